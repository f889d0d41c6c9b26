// What a person can do: keep, undo, restore, go back to a state. Sends the request, reports the result and how to undo
// it, and reloads the view. Does not know how anything is drawn.
import type { Answered, Api, Selector, UndoCall } from './api.ts'
import { conflictsPanel, fixWords, type Refusal, type Verb } from './conflict.ts'
import { ask } from './dialogs.ts'
import { counted, dryRunSentence, whyNot, withHalves } from './model.ts'
import type { Notices, Place } from './notices.ts'
import { editOf, type Refused, type State } from './state.ts'
import type { EditFacts, Fix, PageProblem, RedoAnswer, Selection, UndoAnswer } from './wire.ts'
import { wordsFor } from './words.ts'

interface ActionsNeeds {
  api: Api
  state: State
  notices: Notices
  /** Reloads the view after an action. */
  reload(): Promise<void>
  draw(): void
}

/** The ids of an answer's results, which can be undone by them. */
const idsOf = ({ results }: UndoAnswer | RedoAnswer): string[] =>
  results.flatMap(({ edit_id }) => (edit_id === undefined ? [] : [edit_id]))

const MOST = 1000

interface Options {
  /** Refuses it if the file isn't as it was shown. */
  expected_hash?: string
  /** Where many changes were chosen at once; offers the way back there. */
  place?: Place
}

/** Sends one request at a time, and reports what came of it. `inConflict`: offers the ways on. */
function makeSender(
  notices: Notices,
  reload: () => Promise<void>,
  inConflict: (problem: PageProblem, verb: Verb) => void
) {
  const failed = async (problem: PageProblem, verb: Verb) => {
    if (problem.code === 'STALE_FILE') await reload()
    if (problem.conflicts === undefined) notices.failed(wordsFor(problem))
    else inConflict(problem, verb)
  }

  let isBusy = false
  /** Runs one action at a time: while one runs, others (such as a second click) do nothing. */
  async function alone<T>(work: () => Promise<T>): Promise<T | null> {
    if (isBusy) return null
    isBusy = true
    try {
      return await work()
    } finally {
      isBusy = false
    }
  }

  /**
   * Sends a request and reloads the view; reports a failure, that of an undo or a redo as such. Resolves with the
   * answer; null if it failed.
   */
  function send<Body>(ask: () => Promise<Answered<Body>>, verb: Verb): Promise<Body | null> {
    return alone(async () => {
      const given = await ask()
      if (!given.ok) {
        await failed(given.problem, verb)
        return null
      }
      await reload()
      return given.body
    })
  }

  /** Sends a request and reports success. Resolves with whether it succeeded. */
  async function sendAndTell(
    ask: () => Promise<Answered<unknown>>,
    text: string,
    verb: Verb = 'redo'
  ): Promise<boolean> {
    const isDone = (await send(ask, verb)) !== null
    if (isDone) notices.done(text)
    return isDone
  }

  return { alone, failed, send, sendAndTell }
}

export function makeActions({ api, state, notices, reload, draw }: ActionsNeeds) {
  /** The facts of all loaded edits, by id. */
  const factsById = (): Map<string, EditFacts> =>
    new Map([...state.edits, ...(state.file?.pending?.edits ?? [])].map(edit => [edit.edit_id, edit]))

  const { alone, failed, send, sendAndTell } = makeSender(notices, reload, (problem, verb) => {
    ask({
      title: 'Later changes stand in the way',
      sentence: 'Nothing was done yet.',
      files: [],
      more: close => conflictIn(refusalOf(problem, verb), close)
    })
  })

  const refusalOf = ({ conflicts = [], suggested_fixes = [] }: Partial<PageProblem>, verb: Verb): Refusal => ({
    verb,
    conflicts,
    fixes: suggested_fixes
  })

  /** A refusal, in a dialog that `close` closes. */
  const conflictIn = (refusal: Refusal, close: () => void) =>
    conflictsPanel(refusal, {
      edits: factsById(),
      key: 'dialog-fix',
      follow(fix) {
        close()
        followFix(fix, refusal.conflicts[0]?.path ?? '', refusal.verb)
      }
    })

  const fits = (selector: Selector): boolean => {
    const count = selector.changes?.length ?? selector.edit_ids?.length ?? 1
    if (count <= MOST) return true
    notices.failed(`These are ${counted(count, 'edit')}, and one request takes ${MOST}: take them by file.`)
    return false
  }

  /** With the other halves of moves: a verdict on a move is on both. */
  const whole = ({ edit_ids, changes, ...others }: Selector): Selector => {
    const known = [
      ...state.edits,
      ...(state.file?.edits?.edits ?? []),
      ...[...(state.file?.batches?.values() ?? [])].flat()
    ]
    const named = changes?.map(({ edit_id }) => edit_id) ?? []
    const added = withHalves(named, known).filter(id => !named.includes(id))
    return {
      ...others,
      ...(edit_ids !== undefined && { edit_ids: withHalves(edit_ids, known) }),
      ...(changes !== undefined && { changes: [...changes, ...added.map(edit_id => ({ edit_id }))] })
    }
  }

  async function keep(meant: Selector, what: string, { place }: Options = {}): Promise<void> {
    const selector = whole(meant)
    if (!fits(selector)) return
    const answer = await send(() => api.review('keep', selector), 'redo')
    if (answer === null) return
    const run = () => sendAndTell(() => api.review('pending', selector), `To be reviewed again: ${what}.`)
    notices.done(`Kept ${what}.`, { what: `kept ${what}`, place, run })
  }

  async function toReview(meant: Selector, what: string, { place }: Options = {}): Promise<void> {
    const selector = whole(meant)
    if (!fits(selector)) return
    if ((await send(() => api.review('pending', selector), 'redo')) === null) return
    const run = () => sendAndTell(() => api.review('keep', selector), `Kept ${what}.`)
    notices.done(`To be reviewed again: ${what}.`, { what: `${what} to be reviewed again`, place, run })
  }

  /** `isState`: `what` names a state, and everything after it was undone; else `what` itself was undone. */
  const tellUndone = (
    answer: UndoAnswer,
    what: string,
    { isState = false, place }: Options & { isState?: boolean } = {}
  ) => {
    const edit_ids = idsOf(answer)
    const run = () =>
      sendAndTell(() => api.redo({ edit_ids }), isState ? `Restored what came after ${what}.` : `Restored ${what}.`)
    const [done, undo] = isState ? ['Went back to', 'went back to'] : ['Took back', 'took back']
    const left = answer.skipped.length
    const but = left === 0 ? '' : `, but for ${counted(left, 'edit')} in conflict`
    notices.done(`${done} ${what}${but}.`, edit_ids.length === 0 ? undefined : { what: `${undo} ${what}`, place, run })
  }

  /** Undoes a hunk, or one agent's part of it, if it is still as it was shown. */
  async function undo(changes: Selection[], what: string, path: string, expected_hash?: string): Promise<void> {
    await alone(async () => {
      const answer = await api.undo({ changes, expected_hash })
      if (answer.ok) {
        await reload()
        tellUndone(answer.body, what)
        return
      }
      if (answer.problem.conflicts === undefined) return await failed(answer.problem, 'undo')
      const refused: Refused = { path, changes, ...refusalOf(answer.problem, 'undo') }
      state.refused = [...state.refused.filter(other => editOf(other) !== editOf(refused)), refused]
      draw()
      notices.failed(`Not taken back: ${what} is in conflict with a later change.`)
    })
  }

  /** What undoing many changes would do; null if that can't be told, which has been reported. */
  const tried = (base: UndoCall) =>
    alone(async () => {
      const isState = base.to !== undefined
      const dry = await api.undo({
        ...base,
        ...(!isState && { on_conflict: 'skip' }),
        dry_run: true,
        show_diff: true
      })
      const inConflict = dry.ok ? dry.body.skipped.length > 0 : dry.problem.conflicts !== undefined
      if (!dry.ok && !inConflict) {
        await failed(dry.problem, 'undo')
        return null
      }
      // The answer has a way on only if nothing is skipped.
      const refusal = inConflict && !isState ? await api.undo({ ...base, dry_run: true }) : dry
      return { dry, inConflict, refusal }
    })

  /** Undoes many changes, after showing what that does. */
  async function undoSet(selector: Selector, what: string, { expected_hash, place }: Options = {}): Promise<void> {
    if (!fits(selector)) return
    const base: UndoCall = { ...selector, expected_hash }
    const isState = selector.to !== undefined
    const shown = await tried(base)
    if (shown === null) return
    const { dry, inConflict, refusal } = shown
    const confirm = isState ? 'Go back to this state' : inConflict ? 'Take back what is not in conflict' : 'Take back'
    const note = await ask({
      title: `${isState ? 'Go back to' : 'Take back'} ${what}?`,
      sentence: dry.ok ? `${dryRunSentence(dry.body, state.edits)}.` : 'All of it is in conflict with later changes.',
      files: dry.ok ? dry.body.results : [],
      ...(inConflict && {
        more: close => conflictIn(refusalOf(refusal.ok ? {} : refusal.problem, 'undo'), close)
      }),
      ...(dry.ok && { confirm })
    })
    if (note === null) return
    // In a single file, undo only what was shown; else it is shown again as it is now.
    const [file, other] = dry.ok ? dry.body.results : []
    const hash = other === undefined && file?.sha256 !== undefined ? { expected_hash: file.sha256 } : {}
    if (isState && state.wanted !== null) state.wanted = { ...state.wanted, at: undefined }
    const skip: UndoCall = inConflict && !isState ? { on_conflict: 'skip' } : {}
    const answer = await send(() => api.undo({ ...base, ...hash, ...skip, ...(note !== '' && { note }) }), 'undo')
    if (answer !== null) tellUndone(answer, what, { isState, place })
  }

  async function restore(selector: Selector, what: string, { expected_hash, place }: Options = {}): Promise<void> {
    if (!fits(selector)) return
    const answer = await send(() => api.redo({ ...selector, expected_hash }), 'redo')
    if (answer === null) return
    const edit_ids = idsOf(answer)
    const run = () => sendAndTell(() => api.undo({ edit_ids }), `Took back ${what}.`, 'undo')
    notices.done(`Restored ${what}.`, edit_ids.length === 0 ? undefined : { what: `restored ${what}`, place, run })
  }

  /** Sends what a fix proposes. */
  async function followFix(fix: Fix, path: string, verb: Verb): Promise<void> {
    const { edit, call } = fix
    const answer = await send(
      () =>
        call !== undefined
          ? api.post(call.name, call.arguments)
          : api.post(edit?.start_line === undefined ? '/edit' : '/edit-lines', { path, ...edit }),
      verb
    )
    if (answer === null) return
    state.refused = state.refused.filter(other => other.path !== path)
    draw()
    const { edit_id, results } = answer as Partial<UndoAnswer> & { edit_id?: string }
    const edit_ids = edit_id !== undefined ? [edit_id] : (results ?? []).flatMap(({ edit_id }) => edit_id ?? [])
    const isUndo = call?.name === '/undo'
    const run = () =>
      isUndo
        ? sendAndTell(() => api.redo({ edit_ids }), 'Undone.')
        : sendAndTell(() => api.undo({ edit_ids }), 'Undone.', 'undo')
    notices.done(fixWords(fix, verb).done, edit_ids.length === 0 ? undefined : { what: 'the last step', run })
  }

  function leaveConflict(refused: Refused): void {
    state.refused = state.refused.filter(other => editOf(other) !== editOf(refused))
    draw()
  }

  /** Whether any of it is offered. */
  const areOffered = () => whyNot(state.rights) === null

  return { keep, toReview, undo, undoSet, restore, followFix, leaveConflict, factsById, notices, areOffered }
}

export type Actions = ReturnType<typeof makeActions>
