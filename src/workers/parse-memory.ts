// How much memory a thread that parses may take, and how to tell that it ran out. Does not know jobs or grammars.
import type { ThreadsOptions } from './threads.ts'

/** The memory of a thread that parses. */
export interface ParseMemory {
  /** Bytes that all trees of the thread may take; a multiple of 64 KiB. */
  trees: number
}

/**
 * Bytes that the trees of an outline may take. TypeScript's own compiler (8 MB of JavaScript) takes 173 MB; `a<b,`
 * repeated 100,000 times, as C++, takes 1,137 MB.
 */
export const PARSING_MEMORY = 192 * 1024 * 1024
/** Bytes that the trees of a syntax check may take: a third, since its files are an eighth as large. */
export const CHECKING_MEMORY = 64 * 1024 * 1024
/** Heap of such a thread, in MiB. The 30,000 symbols of TypeScript's own compiler fit. */
const HEAP = 96

/** One thread that parses; `trees`: bytes that its trees may take. */
export const parseThread = (trees: number): ThreadsOptions => ({
  size: 1,
  limits: { maxOldGenerationSizeMb: HEAP },
  data: { trees } satisfies ParseMemory
})

/** Whether a thread ended because its heap, or the memory of its parsers, was full. */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') || error.message.startsWith('Aborted('))
