// The differences that a cause doesn't name: the single one, or how many lines differ and in what else.
import type { DifferenceKind, WordHunk } from './hunks.ts'

/** Kinds that don't change the words; if there are several, the first of this list names the cause. */
export const FORMS = [
  'html_entities',
  'over_escaped',
  'unicode_form',
  'invisible',
  'nbsp',
  'quotes',
  'dashes',
  'case',
  'punctuation',
  'joined_or_split',
  'tabs',
  'indentation',
  'spacing',
  'blank_lines',
  'trailing_space',
  'final_newline'
] as const satisfies readonly DifferenceKind[]

type OtherForm = Exclude<(typeof FORMS)[number], 'punctuation' | 'blank_lines'>

/**
 * What differs besides the cause. `only`: the single difference, one of words or signs. Else `lines`: lines with other
 * words or signs, not counting the line of the cause; `blank_lines`: how many blank lines one text has more; `forms`:
 * the other kinds.
 */
export interface OtherDifferences {
  only?: Pick<WordHunk, 'expected' | 'found'>
  lines: number
  blank_lines: number
  forms: OtherForm[]
}

/** `named`: the difference that the cause shows. Undefined if there are no others. */
export function othersOf(others: readonly WordHunk[], named?: WordHunk): OtherDifferences | undefined {
  if (others.length === 0) return undefined
  const forms = OTHER_FORMS.filter(form => others.some(({ kind }) => kind === form))
  const blank = others.filter(({ kind }) => kind === 'blank_lines')
  const words = others.filter(
    ({ kind }) => kind !== 'blank_lines' && !(OTHER_FORMS as readonly string[]).includes(kind)
  )
  const [only] = words
  const isOnly =
    words.length === others.length &&
    words.every(({ expected, found }) => expected === only!.expected && found === only!.found) &&
    !`${only!.expected}${only!.found}`.trim().includes('\n')
  const lines = new Set(words.flatMap(({ lines }) => lines))
  for (const line of named?.lines ?? []) lines.delete(line)
  return {
    ...(isOnly && { only }),
    lines: lines.size,
    blank_lines: blank.reduce((sum, { expected, found }) => sum + Math.abs(breaks(expected) - breaks(found)), 0),
    forms
  }
}

const OTHER_FORMS = FORMS.filter(form => form !== 'punctuation' && form !== 'blank_lines')

const breaks = (text: string): number => text.split('\n').length - 1
