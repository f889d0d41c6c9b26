// All pending changes of a file together: its hunks, their authors, and the actions on each. Does not know how anything
// is sent.
import type { Actions } from './actions.ts'
import { conflictsPanel } from './conflict.ts'
import { button, drawLater, drawNow, h, hostile, named, timeElement, type Child } from './dom.ts'
import { agentTag, editButtons } from './list.ts'
import { placeOf } from './file-head.ts'
import {
  authorOf,
  byAuthor,
  colourOf,
  counted,
  didOf,
  hunkKeys,
  isPending,
  isPureMove,
  OUTSIDE,
  overlap,
  applied,
  sessionKey,
  shareName,
  shareOf,
  type PendingChanges,
  type Share
} from './model.ts'
import { withoutSpace } from './pairs.ts'
import { rowsOf, type Row } from './rows.ts'
import { shownEdits, type State } from './state.ts'
import type { EditFacts, PendingAnswer, PendingHunk, PendingLine } from './wire.ts'

type Facts = ReadonlyMap<string, EditFacts>

const factsOf = ({ edits }: PendingAnswer): Facts => new Map(edits.map(edit => [edit.edit_id, edit]))

function rowOf({ edit_ids = [], outside, ...line }: PendingLine, facts: Facts): Row {
  const edit = facts.get(edit_ids.at(-1) ?? '')
  const author = outside === true ? OUTSIDE : edit === undefined ? undefined : authorOf(edit)
  return { ...line, ...(author !== undefined && { colour: colourOf(author) }) }
}

type HunkLines = Pick<PendingHunk, 'start_line' | 'end_line' | 'base_start_line' | 'base_end_line'>

const linesText = ({ start_line, end_line, base_start_line, base_end_line }: HunkLines): string => {
  const [first, last] = end_line < start_line ? [base_start_line, base_end_line] : [start_line, end_line]
  const which = end_line < start_line ? 'removed ' : ''
  return first >= last ? `${which}line ${first}` : `${which}lines ${first} to ${last}`
}

/** What is shown of a file: without hunks that only change white space, if that is to be left out. */
export const inView = (pending: PendingAnswer, { spaces }: State): PendingAnswer => ({
  ...pending,
  hunks: pending.hunks.filter(
    ({ lines, truncated }) => spaces || truncated === true || withoutSpace(lines).some(({ kind }) => kind !== 'same')
  )
})

/** Pending changes that are kept or undone together. */
interface Part extends PendingChanges {
  what: string
  key: string
  shortcuts: boolean
}

/** The actions on a part; `take` restores if nothing of it is applied. */
function partActions(
  { what, ...pendingChanges }: Pick<Part, 'what'> & PendingChanges,
  file: PendingAnswer,
  actions: Actions
) {
  const { changes, undone = [] } = pendingChanges
  const changesToUndo = applied(pendingChanges)
  const { path, sha256 } = file
  return {
    isApplied: changesToUndo.length > 0,
    keep: () => actions.keep({ changes }, what),
    take: () =>
      changesToUndo.length > 0
        ? actions.undo(changesToUndo, what, path, sha256)
        : actions.restore({ changes: undone }, what, { expected_hash: sha256 })
  }
}

/** Keep, undo and restore, for a hunk or for one agent's part of it. */
function partButtons(part: Part, file: PendingAnswer, actions: Actions): Child[] {
  if (!actions.areOffered()) return []
  const { what, key, shortcuts } = part
  const { isApplied, keep, take } = partActions(part, file, actions)
  const label = isApplied ? 'Take back' : 'Restore'
  return [
    button({ name: `Keep ${what}`, label: 'Keep', key: `${key}-keep`, ...(shortcuts && { shortcut: 'y' }), run: keep }),
    button({ name: `${label} ${what}`, label, key: `${key}-take`, ...(shortcuts && { shortcut: 'u' }), run: take })
  ]
}

const hunkPart = ({ changes, undone = [], ...hunk }: PendingHunk, key: string, path: string): Part => ({
  changes,
  undone,
  what: `${linesText(hunk)} of ${path}`,
  key,
  shortcuts: true
})

/** Hunks of a file that are drawn at once; of more, only those that come near what is in sight. Chosen. */
const AT_ONCE = 50
/** In px: about what a line takes, and the rest of a hunk. */
const LINE = 20
const REST = 60

interface HunkNeeds {
  key: string
  pending: PendingAnswer
  facts: Facts
  state: State
  actions: Actions
}

function hunkBlock(hunk: PendingHunk, i: number, needs: HunkNeeds): HTMLElement {
  const { hunks } = needs.pending
  const names = byAuthor(hunk, needs.facts).map(({ author }) => author)
  const article = h('article', {
    class: 'hunk',
    tabindex: '-1',
    key: needs.key,
    'data-anchor': true,
    'aria-label': `Hunk ${i + 1} of ${hunks.length}: ${linesText(hunk)}, by ${names.join(' and ')}`
  })
  drawLater(article, hunk.lines.length * LINE + REST, () => hunkContent(hunk, needs))
  if (hunks.length <= AT_ONCE) drawNow(article)
  return article
}

function hunkContent(hunk: PendingHunk, { key, pending, facts, state, actions }: HunkNeeds): Child[] {
  const authors = byAuthor(hunk, facts)
  const part = hunkPart(hunk, key, pending.path)
  const gone = applied(hunk).length === 0
  const ids = new Set(hunk.changes.map(({ edit_id }) => edit_id))
  const reasons = [...new Set([...ids].flatMap(id => facts.get(id)?.reason ?? []))]
  const newest = [...ids]
    .flatMap(id => facts.get(id)?.at ?? [])
    .sort()
    .at(-1)
  const refused = state.refused.find(({ path, changes }) => path === pending.path && overlap(changes, hunk.changes))
  const moved = state.edits.find(edit => ids.has(edit.edit_id) && (edit.moved_from ?? edit.moved_to) !== undefined)
  const isMoved = moved !== undefined && ids.size === 1 && isPureMove(moved, state.edits)
  return [
    h(
      'header',
      {},
      h('h3', {}, linesText(hunk), gone && ' (taken back)'),
      h('span', { class: 'authors' }, ...authors.map(({ author }) => agentTag(author))),
      newest !== undefined && timeElement(newest),
      h('span', { class: 'reason' }, ...reasons.map(reason => named(reason))),
      h('div', { class: 'buttons' }, ...partButtons(part, pending, actions))
    ),
    authors.length > 1 &&
      h(
        'ul',
        { class: 'parts', 'aria-label': 'By agent' },
        ...authors.map(({ author, changes, undone }) => {
          const what = `what ${author} did in ${part.what}`
          const ofAuthor = { changes, undone, what, key: `${part.key} ${author}`, shortcuts: false }
          return h(
            'li',
            {},
            agentTag(author),
            h('span', {}, 'in this hunk'),
            h('div', { class: 'buttons' }, ...partButtons(ofAuthor, pending, actions))
          )
        })
      ),
    refused !== undefined &&
      conflictsPanel(refused, {
        edits: actions.factsById(),
        key: `${part.key}-fix`,
        follow: fix => actions.followFix(fix, pending.path, 'undo'),
        leave: () => actions.leaveConflict(refused)
      }),
    moved !== undefined && h('p', { class: 'muted' }, hostile(`${authorOf(moved)} ${didOf(moved)}.`, true)),
    !isMoved &&
      rowsOf(
        hunk.lines.map(line => rowOf(line, facts)),
        state
      ),
    hunk.truncated === true &&
      h('p', { class: 'warning' }, 'Only its first lines are shown. Keep and Take back act on the whole hunk.')
  ]
}

/** The actions on hunk `i`, for the keys; null if there is no such hunk. */
export function hunkActions(pending: PendingAnswer, i: number, actions: Actions) {
  const hunk = pending.hunks[i]
  return hunk === undefined ? null : partActions(hunkPart(hunk, '', pending.path), pending, actions)
}

/** What can be kept or taken back at once in a file. */
interface Whole extends Share {
  what: string
}

/** The share of a file that the list shows, that of each author, and that of all of them. */
function wholesOf(pending: PendingAnswer, state: State): { listed: Whole | null; others: Whole[] } {
  const { hunks } = pending
  const facts = factsOf(pending)
  // The list may not show yet what others did since it was loaded.
  const isWhole = state.filter.text === ''
  const row = state.file?.row
  const listedIds = new Set(shownEdits(state).map(({ edit_id }) => edit_id))
  const all = shareOf(hunks, facts, () => true)
  const wholes = [...all.authors.keys()].map(author => shareOf(hunks, facts, edit => authorOf(edit) === author))
  if (wholes.length > 1) wholes.push(all)
  const listed = shareOf(
    hunks,
    facts,
    edit => (row === undefined || sessionKey(edit) === row) && (isWhole || listedIds.has(edit.edit_id))
  )
  const [author = ''] = listed.authors.keys()
  const around = listed.authors.size > 1 ? all : wholes.find(({ authors }) => authors.has(author))
  const name = (share: Share, whole = share): Whole => ({ ...share, what: shareName(share, whole) })
  const named = listed.hunks === 0 ? null : name(listed, around)
  return { listed: named, others: wholes.map(whole => name(whole)).filter(({ what }) => what !== named?.what) }
}

/** The actions on changes all over the file; an undo first shows what it does. */
function wholeActions(whole: Whole, { path, sha256 }: PendingAnswer, actions: Actions) {
  const changesToUndo = applied(whole)
  const what = `${whole.what} in ${path}`
  const place = whole.hunks > 1 ? placeOf(path) : undefined
  return {
    isApplied: changesToUndo.length > 0,
    keep: () => actions.keep({ changes: whole.changes }, what, { place }),
    take: () => actions.undoSet({ changes: changesToUndo }, what, { expected_hash: sha256, place })
  }
}

/** The actions on all that the list shows of the file; null if it shows nothing of it. */
export function fileActions(pending: PendingAnswer, state: State, actions: Actions) {
  const { listed } = wholesOf(pending, state)
  return listed && wholeActions(listed, pending, actions)
}

function wholeButtons(whole: Whole, isListed: boolean, pending: PendingAnswer, actions: Actions): Child {
  const { isApplied, keep, take } = wholeActions(whole, pending, actions)
  const does = (verb: string, shortcut: string, run: () => unknown) =>
    button({
      name: `${verb} ${whole.what} in ${pending.path}`,
      label: hostile(`${verb} ${whole.what}`, true),
      key: `${verb} ${whole.what}`,
      ...(isListed && { shortcut }),
      run
    })
  return h('div', { class: 'buttons' }, does('Keep', 'Y', keep), isApplied && does('Take back', 'U', take))
}

function fileParts(pending: PendingAnswer, state: State, actions: Actions): Child {
  const { listed, others } = wholesOf(pending, state)
  return h(
    'div',
    { class: 'whole' },
    listed !== null && wholeButtons(listed, true, pending, actions),
    others.length > 0 &&
      h(
        'ul',
        { class: 'parts', 'aria-label': 'In this file, by agent' },
        ...others.map(whole => h('li', {}, wholeButtons(whole, false, pending, actions)))
      )
  )
}

/** Pending changes that are in no hunk: they have no visible effect, or their texts aren't kept. */
function unshown(pending: PendingAnswer, state: State, actions: Actions): Child[] {
  const { path, unseen, hunks, truncated } = pending
  const listed = new Set([...unseen, ...hunks.flatMap(({ changes }) => changes)].map(({ edit_id }) => edit_id))
  const others = state.edits.filter(edit => edit.path === path && isPending(edit) && !listed.has(edit.edit_id))
  const some = `${counted(others.length, 'edit')} of ${path} whose texts are not kept`
  return [
    unseen.length > 0 &&
      h(
        'section',
        { class: 'unshown' },
        h('p', { class: 'muted' }, `${counted(unseen.length, 'edit')} made changes that are no longer visible.`),
        h(
          'div',
          { class: 'buttons' },
          actions.areOffered() &&
            button({
              name: `Keep what left nothing to be seen in ${path}`,
              label: 'Keep',
              key: 'unseen-keep',
              run: () => actions.keep({ changes: unseen }, `what left nothing to be seen in ${path}`)
            })
        )
      ),
    others.length > 0 &&
      truncated !== true &&
      h(
        'section',
        { class: 'unshown' },
        h(
          'p',
          { class: 'muted' },
          `${counted(others.length, 'edit')} can't be shown as lines: the texts are not kept.`
        ),
        h('div', { class: 'buttons' }, ...editButtons(others, some, { key: 'unshown', place: placeOf(path), actions }))
      )
  ]
}

interface PendingNeeds {
  state: State
  actions: Actions
  next(): unknown
  showSpaces(): unknown
}

export function drawPending(all: PendingAnswer, { state, actions, next, showSpaces }: PendingNeeds): Child[] {
  const pending = inView(all, state)
  const { hunks, exists, truncated, incomplete, total_hunks } = pending
  const hidden = all.hunks.length - hunks.length
  const [keys, facts] = [hunkKeys(hunks), factsOf(pending)]
  return [
    !exists && h('p', { class: 'warning' }, 'There is no such file now.'),
    incomplete === true &&
      h(
        'p',
        { class: 'warning' },
        'Older changes of this file are not shown: their texts are not kept, or another program made them.'
      ),
    hunks.length > 0 && actions.areOffered() && fileParts(pending, state, actions),
    ...hunks.map((hunk, i) => hunkBlock(hunk, i, { key: keys[i]!, pending, facts, state, actions })),
    truncated === true &&
      h(
        'p',
        { class: 'warning' },
        all.hunks.length < total_hunks
          ? `${all.hunks.length} of ${counted(total_hunks, 'hunk')} are shown. The others appear as you review these.`
          : 'Not all lines of the last hunk are shown.'
      ),
    hidden > 0 &&
      h(
        'section',
        { class: 'unshown' },
        h('p', { class: 'muted' }, `${counted(hidden, 'hunk')} with changes of white space only: left out.`),
        button({ name: 'Show changes of white space', label: 'Show', key: 'show-spaces', run: showSpaces })
      ),
    ...unshown(all, state, actions),
    all.hunks.length === 0 &&
      h(
        'div',
        { class: 'empty' },
        h('p', {}, 'Nothing left to review in this file.'),
        button({ name: 'Next file', label: 'Next file', shortcut: 'J', key: 'done', run: next })
      )
  ]
}
