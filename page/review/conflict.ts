// A refused undo: both texts, and the ways on that the answer offers. Does not know how these are sent.
import { button, h, hostile, named } from './dom.ts'
import { lineText } from './line-text.ts'
import { authorOf } from './model.ts'
import type { Conflict, EditFacts, Fix } from './wire.ts'

const WHY: Record<Conflict['kind'], string> = {
  overlap: 'A later change is on the same text.',
  same_line: 'A later change is on the same line.',
  outside: 'Another program changed this text.',
  removed: 'The file is gone, or another one was made in its place.'
}

const textBlock = (heading: string, text: string | undefined) =>
  text !== undefined &&
  h(
    'div',
    { class: 'version' },
    h('h4', {}, heading),
    h('pre', { tabindex: '0', 'aria-label': heading }, ...linesOf(text))
  )

const linesOf = (text: string) => {
  const lines = text.replace(/\n$/, '').split('\n')
  return lines.flatMap((line, i) => [lineText(line), i < lines.length - 1 && '\n'])
}

function conflictBlock(conflict: Conflict, edits: ReadonlyMap<string, EditFacts>): HTMLElement {
  const { by, kind, start_line, path, current_text, would_restore } = conflict
  const later = by === undefined ? undefined : edits.get(by)
  const author = later === undefined ? '' : ` (${authorOf(later)})`
  return h(
    'div',
    { class: 'conflict' },
    h(
      'p',
      {},
      hostile(`${WHY[kind]}${author} `, true),
      named(path),
      start_line !== undefined && `, line ${start_line}`
    ),
    h('div', { class: 'versions' }, textBlock('There now', current_text), textBlock('Would be restored', would_restore))
  )
}

/** What a fix does, as a button says it, and as a notice says that it was done. */
const FIXES: Record<string, { label: string; done: string }> = {
  UNDO_LATER_TOO: { label: 'Take back the later change too', done: 'Took back the later change too.' },
  RESTORE_TEXT: { label: 'Restore the old text', done: 'Restored the old text.' },
  USE_REDO: { label: 'Make it again', done: 'Made it again.' },
  USE_UNDO: { label: 'Take it back', done: 'Took it back.' }
}

const AGAIN = { label: 'Make the change again over the later one', done: 'Made the change again over the later one.' }

/** The words for a fix, of an undo or a redo. */
export const fixWords = ({ type }: Fix, verb: Verb): { label: string; done: string } =>
  (verb === 'redo' && type === 'RESTORE_TEXT' ? AGAIN : FIXES[type]) ?? FIXES.RESTORE_TEXT!

/** Whether the page can carry out a fix. */
const canFollow = ({ edit, call }: Fix): boolean =>
  (edit !== undefined && edit.new_text !== undefined) || call?.name === '/undo' || call?.name === '/redo'

interface ConflictsPanelNeeds {
  edits: ReadonlyMap<string, EditFacts>
  /** Prefix of the buttons' keys; the number of the fix follows it. */
  key: string
  follow(fix: Fix): void
  /** Without it, there is no button that leaves the later change. */
  leave?(): void
}

/** What was refused: an undo, or a redo. */
export type Verb = 'undo' | 'redo'

const TITLES: Record<Verb, string> = {
  undo: "This can't be taken back alone",
  redo: "This can't be made again as it was"
}

export interface Refusal {
  verb: Verb
  conflicts: readonly Conflict[]
  fixes: readonly Fix[]
}

export function conflictsPanel(
  { verb, conflicts, fixes }: Refusal,
  { edits, key, follow, leave }: ConflictsPanelNeeds
): HTMLElement {
  return h(
    'section',
    { class: 'conflicts', 'aria-label': 'Conflict' },
    h('h3', {}, TITLES[verb]),
    conflicts.length === 0 && h('p', {}, 'Later changes stand in the way.'),
    ...conflicts.map(conflict => conflictBlock(conflict, edits)),
    h(
      'div',
      { class: 'buttons' },
      ...fixes.filter(canFollow).map((fix, i) => {
        const { label } = fixWords(fix, verb)
        return button({ name: label, label, key: `${key}-${i}`, run: () => follow(fix) })
      }),
      leave !== undefined &&
        button({
          name: 'Leave the later change',
          label: 'Leave the later change',
          key: `${key}-leave`,
          class: 'quiet',
          run: leave
        })
    )
  )
}
