// What the page reads of answers is what the schemas say: the compiler compares them.
import t from 'tap'
import type { BlameResult } from '../../../schemas/blame.ts'
import type { Capabilities } from '../../../schemas/capabilities.ts'
import type { HistoryResult } from '../../../schemas/history.ts'
import type { PendingResult } from '../../../schemas/pending.ts'
import type { ConflictOnWire, SuggestedFix } from '../../../schemas/problem.ts'
import type { ReviewResult } from '../../../schemas/review.ts'
import type { RedoResult, UndoResult } from '../../../schemas/undo.ts'
import type * as Wire from '../../../page/review/wire.ts'

/** Fails to compile where an answer isn't what the page reads. */
type Reads<Page, Answer extends Page> = [Page, Answer]

export type Compared = [
  Reads<Wire.HistoryAnswer, HistoryResult>,
  Reads<Wire.PendingAnswer, PendingResult>,
  Reads<Wire.BlameAnswer, BlameResult>,
  Reads<Wire.UndoAnswer, UndoResult>,
  Reads<Wire.RedoAnswer, RedoResult>,
  Reads<Wire.ReviewAnswer, ReviewResult>,
  Reads<Wire.CapabilitiesAnswer, Capabilities>,
  Reads<Wire.Conflict, ConflictOnWire>,
  Reads<Wire.Fix, SuggestedFix>
]

t.pass('npm run types')
