// /blame: who wrote the lines of a file, now or as it once was.
import { BlameRequestSchema, BlameResultSchema, DEFAULT_BLAMED_LINES, type BlameRequest } from '../../schemas/blame.ts'
import type { LineOutOfRange } from '../engine/failure.ts'
import type { NamedEditOnWire } from '../../schemas/history.ts'
import { fail, ok, type Result } from '../result.ts'
import type { HistoryReader } from '../workers/history-reader.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { MOST_MOVES, type ChangeRecord, type FileHistory, type MovedText, type Workspace } from '../workspace/api.ts'
import { RECALL_CODES } from './codes.ts'
import { decodedPast } from './decoding.ts'
import { editsOfFile } from './edits-of-file.ts'
import { hashesOf } from './file-hash.ts'
import { sweptEdit } from './meant-edits.ts'
import type { BlameOutcome, EditSwept, Operation, OperationFailure, TextsGone } from './operation.ts'
import { isHalf } from './past-edits.ts'
import { textsGone } from './texts-gone.ts'

type BlameFailure = OperationFailure | LineOutOfRange | TextsGone | EditSwept | FileFailure

const notOfFile = fail<OperationFailure>({
  code: 'INVALID_REQUEST',
  faults: [{ pointer: '/at', reason: 'not_of_file' }]
})

export const makeBlame = (workspace: Workspace, reader: HistoryReader): Operation<BlameRequest> => ({
  id: 'blame_file',
  route: '/blame',
  summary: 'Show who wrote the lines of a file',
  description: () => 'Lists the lines of a file, now or as it was after an edit, each with the edits that wrote it.',
  hints: {},
  route_only: true,
  effect: 'looks',
  request: BlameRequestSchema,
  outcome: BlameResultSchema,
  codes: [...RECALL_CODES, 'LINE_OUT_OF_RANGE'],
  expects_hash: false,
  expects_none: false,
  items: {},
  async call({ path, limit = DEFAULT_BLAMED_LINES, ...range }) {
    const done = await workspace.recall<BlameOutcome, BlameFailure>({ path }, async read => {
      const file = await decodedPast(read)
      const { path, resolved_path, file_hash } = file
      const moved = await movedTexts(workspace, read)
      if (!moved.ok) return moved
      const { at } = range
      const all = [file, ...moved.value]
      const text = all.find(({ records }) => at === undefined || records.some(({ edit_id }) => edit_id === at))
      if (text === undefined) return (await sweptEdit(workspace, at!, 'blame')) ?? notOfFile
      const { bytes, changes } = text
      const found = await reader.blame(bytes, { changes, moved: moved.value, limit, ...range })
      if (!found.ok) {
        const { failure } = found
        if (failure.code === 'LINE_OUT_OF_RANGE') return fail(failure)
        return fail(textsGone(failure, { to: 'blame', edit_ids: at === undefined ? [] : [at] }))
      }
      const ids = new Set(found.value.lines.flatMap(({ edit_ids }) => edit_ids))
      const outcome: BlameOutcome = {
        path,
        resolved_path,
        ...hashesOf(file_hash),
        at,
        ...found.value,
        edits: factsIn(all, ids)
      }
      return ok(outcome)
    })
    return done.ok ? ok({ operation: 'blame', outcome: done.value }) : done
  }
})

/** The edits with these ids, newest first. Where a file was moved back, older texts have some of them once more. */
function factsIn(texts: readonly Parameters<typeof editsOfFile>[0][], ids: ReadonlySet<string>): NamedEditOnWire[] {
  const facts = texts.toReversed().flatMap(text => editsOfFile(text, ids))
  const byId = new Map(facts.map(edit => [edit.edit_id, edit]))
  return [...byId.values()].sort((a, b) => (a.edit_id < b.edit_id ? 1 : -1))
}

/**
 * What moves brought to the path of a file, and to its paths before, the latest first, as UTF-8. What was before
 * `MOST_MOVES` is as if it weren't kept.
 */
async function movedTexts(workspace: Workspace, file: FileHistory): Promise<Result<MovedText[], FileFailure>> {
  const texts: MovedText[] = []
  const arrivals = new Map<string, ChangeRecord>()
  const note = ({ records }: Pick<FileHistory, 'records'>): void => {
    for (const record of records) if (isHalf(record)) arrivals.set(record.edit_id, record)
  }
  note(file)
  for (let last = '~'; ;) {
    const next = [...arrivals.keys()]
      .filter(id => id < last)
      .sort()
      .at(-1)
    if (next === undefined) return ok(texts)
    last = next
    const text = await workspace.movedText(arrivals.get(next)!)
    if (!text.ok) return text
    if (text.value === null) continue
    if (texts.length === MOST_MOVES) {
      return ok([...texts, { ...text.value, bytes: Buffer.alloc(0), changes: [], records: [] }])
    }
    texts.push(await decodedPast(text.value))
    note(text.value)
  }
}
