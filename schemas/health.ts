// What the health routes answer. Knows only the wire format.
import { named, word } from './common.ts'

export const Health = named('Health', 'The process runs.', { status: word(['ok'], 'Always ok.') })
export const Readiness = named('Readiness', 'The service takes requests.', { status: word(['ready'], 'Always ready.') })
