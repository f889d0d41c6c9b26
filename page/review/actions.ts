// What a person does: keep, take back, restore, go back to a state. Sends it, tells what came of it and how to undo it,
// and has what is shown read again. Does not know how anything is drawn.
import type { Answered, Api, Selector, TakeBackCall } from './api.ts'
import { conflictsPanel } from './conflict.ts'
import { ask } from './dialogs.ts'
import { counted, dryRunSentence } from './model.ts'
import type { Notices } from './notices.ts'
import type { State } from './state.ts'
import type { EditFacts, Fix, PageProblem, RedoAnswer, Selection, UndoAnswer } from './wire.ts'

export interface ActionsNeeds {
  api: Api
  state: State
  notices: Notices
  /** Reads again what is shown, after something was done. */
  reload(): Promise<void>
  draw(): void
}

/** The ids of an answer's results, by which it is undone. */
const idsOf = ({ results }: UndoAnswer | RedoAnswer): string[] =>
  results.flatMap(({ edit_id }) => (edit_id === undefined ? [] : [edit_id]))

const MOST = 1000

export function makeActions({ api, state, notices, reload, draw }: ActionsNeeds) {
  /** What is known of all edits that are loaded. */
  const factsById = (): Map<string, EditFacts> =>
    new Map([...state.edits, ...(state.file?.pending?.edits ?? [])].map(edit => [edit.edit_id, edit]))

  const failed = async (problem: PageProblem) => {
    if (problem.code === 'STALE_FILE') {
      await reload()
      notices.failed('The file was changed meanwhile, so nothing was done. It is shown as it is now: look again.')
    } else notices.failed(problem.detail)
  }

  /** Sends, and reads again what is shown; tells a failure. Resolves with the answer, null where it failed. */
  async function send<Body>(answer: Promise<Answered<Body>>): Promise<Body | null> {
    const given = await answer
    if (!given.ok) {
      await failed(given.problem)
      return null
    }
    await reload()
    return given.body
  }

  const fits = (selector: Selector): boolean => {
    const count = selector.changes?.length ?? selector.edit_ids?.length ?? 1
    if (count <= MOST) return true
    notices.failed(`These are ${counted(count, 'edit')}, and one request takes ${MOST}: take them by file.`)
    return false
  }

  async function keep(selector: Selector, what: string): Promise<void> {
    if (!fits(selector)) return
    const answer = await send(api.review('keep', selector))
    if (answer === null) return
    const run = async () => {
      if ((await send(api.review('pending', selector))) !== null) notices.done(`To be reviewed again: ${what}.`)
    }
    notices.done(`Kept ${what}.`, { what: `kept ${what}`, run })
  }

  async function toReview(selector: Selector, what: string): Promise<void> {
    if (!fits(selector)) return
    if ((await send(api.review('pending', selector))) === null) return
    const run = async () => {
      if ((await send(api.review('keep', selector))) !== null) notices.done(`Kept ${what}.`)
    }
    notices.done(`To be reviewed again: ${what}.`, { what: `${what} to be reviewed again`, run })
  }

  /** `isState`: `what` is not what was taken back but a state, and all that came after it was. */
  const tellTakenBack = (answer: UndoAnswer, what: string, isState = false) => {
    const edit_ids = idsOf(answer)
    const run = async () => {
      const redone = await send(api.redo({ edit_ids }))
      if (redone !== null) notices.done(isState ? `Restored what came after ${what}.` : `Restored ${what}.`)
    }
    const [done, undo] = isState ? ['Went back to', 'went back to'] : ['Took back', 'took back']
    notices.done(`${done} ${what}.`, edit_ids.length === 0 ? undefined : { what: `${undo} ${what}`, run })
  }

  /** Takes back a hunk, or what one agent did in it, as it was shown. */
  async function takeBack(changes: Selection[], what: string, path: string, expected_hash?: string): Promise<void> {
    const hash = expected_hash === undefined ? {} : { expected_hash }
    const answer = await api.undo({ changes, ...hash })
    if (answer.ok) {
      await reload()
      tellTakenBack(answer.body, what)
      return
    }
    const { conflicts, suggested_fixes = [], detail } = answer.problem
    if (conflicts === undefined) return await failed(answer.problem)
    const { edit_id } = changes[0]!
    state.refused = [
      ...state.refused.filter(other => other.edit_id !== edit_id),
      { path, edit_id, conflicts, fixes: suggested_fixes, detail }
    ]
    draw()
    notices.failed(`Not taken back: ${what} is in conflict with a later change.`)
  }

  /** Takes back many changes, after it was shown what that does. */
  async function takeBackSet(selector: Selector, what: string, expected_hash?: string): Promise<void> {
    if (!fits(selector)) return
    const base: TakeBackCall = { ...selector, ...(expected_hash !== undefined && { expected_hash }) }
    const isState = selector.to !== undefined
    const skip: TakeBackCall = isState ? {} : { on_conflict: 'skip' }
    const dry = await api.undo({ ...base, ...skip, dry_run: true, show_diff: true })
    const inConflict = dry.ok ? dry.body.skipped.length > 0 : dry.problem.conflicts !== undefined
    if (!dry.ok && !inConflict) return await failed(dry.problem)
    const refusal = inConflict && dry.ok ? await api.undo({ ...base, dry_run: true }) : dry
    const { conflicts = [], suggested_fixes = [], detail = '' } = refusal.ok ? {} : refusal.problem
    const note = await ask({
      title: `${isState ? 'Go back to' : 'Take back'} ${what}?`,
      sentence: dry.ok ? `${dryRunSentence(dry.body, state.edits)}.` : 'All of it is in conflict with later changes.',
      files: dry.ok ? dry.body.results : [],
      ...(inConflict && {
        more: close =>
          conflictsPanel({ conflicts, fixes: suggested_fixes, detail }, factsById(), 'dialog-fix', fix => {
            close()
            followFix(fix, conflicts[0]?.path ?? '')
          })
      }),
      ...(dry.ok && { confirm: isState ? 'Go back' : inConflict ? 'Take back the rest' : 'Take back' })
    })
    if (note === null) return
    const answer = await send(api.undo({ ...base, ...(inConflict && skip), ...(note !== '' && { note }) }))
    if (answer !== null) tellTakenBack(answer, what, isState)
  }

  async function restore(selector: Selector, what: string, expected_hash?: string): Promise<void> {
    if (!fits(selector)) return
    const answer = await send(api.redo({ ...selector, ...(expected_hash !== undefined && { expected_hash }) }))
    if (answer === null) return
    const edit_ids = idsOf(answer)
    const run = async () => {
      const undone = await send(api.undo({ edit_ids: answer.redone }))
      if (undone !== null) notices.done(`Took back ${what}.`)
    }
    notices.done(`Restored ${what}.`, edit_ids.length === 0 ? undefined : { what: `restored ${what}`, run })
  }

  /** Sends what a fix proposes. */
  async function followFix({ edit, call }: Fix, path: string): Promise<void> {
    const sent =
      call !== undefined
        ? api.post(call.name, call.arguments)
        : api.post(edit?.start_line === undefined ? '/edit' : '/edit-lines', { path, ...edit })
    const answer = await send(sent)
    if (answer === null) return
    state.refused = state.refused.filter(other => other.path !== path)
    draw()
    const { edit_id, results } = answer as Partial<UndoAnswer> & { edit_id?: string }
    const edit_ids = edit_id !== undefined ? [edit_id] : (results ?? []).flatMap(({ edit_id }) => edit_id ?? [])
    const isUndo = call?.name === '/undo'
    const run = async () => {
      const back = await send<RedoAnswer | UndoAnswer>(isUndo ? api.redo({ edit_ids }) : api.undo({ edit_ids }))
      if (back !== null) notices.done('Undone.')
    }
    notices.done(answer.message, edit_ids.length === 0 ? undefined : { what: 'the last step', run })
  }

  function leaveConflict(edit_id: string): void {
    state.refused = state.refused.filter(other => other.edit_id !== edit_id)
    draw()
  }

  return { keep, toReview, takeBack, takeBackSet, restore, followFix, leaveConflict, factsById }
}

export type Actions = ReturnType<typeof makeActions>
