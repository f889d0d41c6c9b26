// Derives one constant rule for the indentation of lines from pairs of lines in two texts.

export interface Indents {
  from: string
  to: string
}

export type IndentRule = (indent: string) => string | undefined

/**
 * The rule from one indentation to the other: `to = from × factor + shift`, where each uses a single character (space
 * or tab). Undefined if the pairs don't agree.
 */
export function indentRule(pairs: readonly Indents[]): IndentRule | undefined {
  const known = new Map<string, string>()
  for (const { from, to } of pairs) {
    if ((known.get(from) ?? to) !== to) return undefined
    known.set(from, to)
  }
  if (pairs.every(({ from, to }) => from === to)) return indent => indent
  const [from, to] = [signOf(pairs.map(pair => pair.from)), signOf(pairs.map(pair => pair.to))]
  if (from === undefined || to === undefined) return undefined
  const { factor, shift } = lineThrough(
    [...known].map(([a, b]) => [a.length, b.length]),
    from === '' || to === '' || from === to
  )
  for (const [a, b] of known) if (a.length * factor + shift !== b.length) return undefined
  return indent => {
    if (indent !== '' && from !== '' && indent.replaceAll(from, '') !== '') return undefined
    const length = indent.length * factor + shift
    if (length < 0 || !Number.isInteger(length)) return undefined
    if (from === '' && indent !== '' && indent.replaceAll(to, '') !== '') return undefined
    return (to === '' ? from : to).repeat(length)
  }
}

/** The one character that all indentations consist of; '' if all are empty, undefined if there are several. */
function signOf(indents: readonly string[]): string | undefined {
  const signs = new Set(indents.join(''))
  return signs.size > 1 ? undefined : ([...signs][0] ?? '')
}

/**
 * The line through two points that differ. A single point gives the shift, or, with two different characters, the
 * factor.
 */
function lineThrough(
  points: readonly (readonly [number, number])[],
  sameSign: boolean
): { factor: number; shift: number } {
  const [first, ...others] = points
  const [x, y] = first!
  const other = others.find(point => point[0] !== x)
  const factor = other !== undefined ? (other[1] - y) / (other[0] - x) : sameSign || x === 0 ? 1 : y / x
  return { factor, shift: y - x * factor }
}
