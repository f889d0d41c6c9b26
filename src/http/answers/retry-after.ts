// When to send a request again: as a header, and in a sentence. Does not know any failure.
import { counted } from './phrases.ts'

const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds))
export const retryAfter = (seconds: number) => ({ 'retry-after': String(wholeSeconds(seconds)) })
export const sendAgain = (seconds: number) => `Send the request again in ${counted(wholeSeconds(seconds), 'second')}.`
