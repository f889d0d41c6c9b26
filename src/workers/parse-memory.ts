// What a thread that parses may take, and how a lack of it shows. Does not know jobs or grammars.
import type { ThreadsOptions } from './threads.ts'

/** What a thread that parses is given. */
export interface ParseMemory {
  /** Bytes that all trees of the thread may take; a multiple of 64 KiB. */
  trees: number
}

/**
 * Bytes that the trees of an outline may take. TypeScript's own compiler (8 MB of JavaScript) takes 173 MB; `a<b,` 100,000
 * times as C++ takes 1,137 MB.
 */
export const PARSING_MEMORY = 192 * 1024 * 1024
/** The same for a check of syntax: a third, as the files are an eighth as large. */
export const CHECKING_MEMORY = 64 * 1024 * 1024
/** In MiB: objects that such a thread may have. TypeScript's own compiler makes 30,000 symbols, which fit. */
const HEAP = 96

/** One thread that parses; `trees`: bytes that its trees may take. */
export const parseThread = (trees: number): ThreadsOptions => ({
  size: 1,
  limits: { maxOldGenerationSizeMb: HEAP },
  data: { trees } satisfies ParseMemory
})

/** Whether a thread ended because its heap, or the memory of its parsers, had no room. */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') || error.message.startsWith('Aborted('))
