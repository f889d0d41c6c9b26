// Tracks the steps of a change that failed, or weren't tried because another failed: their results are unknown. Finds
// the later steps that depend on those.
import type { BatchStep } from '../workspace/api.ts'
import type { FilePlace, FileSnapshot } from './store.ts'
import type { FileText, NamedText } from './texts.ts'

type Step = BatchStep<unknown, unknown>

export class Unknown<P extends FilePlace, S extends FileSnapshot> {
  readonly #foldersFor: (place: P) => readonly Buffer[]
  readonly #texts = new Set<FileText<P, S>>()
  readonly #meant = new Set<string>()
  #hasNew = false

  /** `foldersFor`: the folders that are missing for a file in this place. */
  constructor(foldersFor: (place: P) => readonly Buffer[]) {
    this.#foldersFor = foldersFor
  }

  /** Adds a step; `meant`: paths that were likely meant by it. */
  add({ operation }: Step, { text }: NamedText<P, S>, meant: readonly string[] = []): void {
    this.#texts.add(text)
    this.#hasNew ||= operation === 'create'
    for (const path of meant) this.#meant.add(path)
  }

  /** Adds a step that failed. */
  addFailed(step: Step, named: NamedText<P, S>, failure: unknown): void {
    // A planner may fail with anything.
    const { code, did_you_mean = [] } = (failure ?? {}) as { code?: string; did_you_mean?: readonly string[] }
    this.add(step, named, code === 'FILE_NOT_FOUND' ? did_you_mean : [])
  }

  /** Whether a step depends on what was added. `previous`: the text of the step before it. */
  concerns(step: Step, { text, name: { place } }: NamedText<P, S>, previous: FileText<P, S>): boolean {
    if (this.#texts.has(text) || this.#meant.has(place.path.toString())) return true
    // One of those steps might have made the file, or its folder.
    if (step.operation !== 'create') return this.#hasNew && text.content === null
    return (this.#hasNew && this.#foldersFor(place).length > 0) || (step.moves === true && this.#texts.has(previous))
  }
}
