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

const LABELS: Record<string, string> = {
  UNDO_LATER_TOO: 'Take back the later change too',
  RESTORE_TEXT: 'Restore the old text',
  USE_REDO: 'Make it again',
  USE_UNDO: 'Take it back'
}

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

export function conflictsPanel(
  { conflicts, fixes, detail }: { conflicts: readonly Conflict[]; fixes: readonly Fix[]; detail: string },
  { edits, key, follow, leave }: ConflictsPanelNeeds
): HTMLElement {
  return h(
    'section',
    { class: 'conflicts', 'aria-label': 'Conflict' },
    h('h3', {}, "This can't be taken back alone"),
    conflicts.length === 0 && h('p', {}, hostile(detail)),
    ...conflicts.map(conflict => conflictBlock(conflict, edits)),
    h(
      'div',
      { class: 'buttons' },
      ...fixes.filter(canFollow).map((fix, i) =>
        button({
          name: `${LABELS[fix.type] ?? fix.type}. ${fix.suggestion}`,
          label: LABELS[fix.type] ?? fix.type,
          key: `${key}-${i}`,
          run: () => follow(fix)
        })
      ),
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
