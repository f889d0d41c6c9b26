// One constant rule for the white space at the start of lines, read off lines of two texts. Does not know words or
// files.

export interface Indents {
  from: string
  to: string
}

export type IndentRule = (indent: string) => string | undefined

/**
 * The indentation for another: `to = from × factor + shift`, each of one kind of sign; undefined if the pairs don't
 * agree.
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

/** The one sign that all consist of; '' if all are empty, undefined if there are several. */
function signOf(indents: readonly string[]): string | undefined {
  const signs = new Set(indents.join(''))
  return signs.size > 1 ? undefined : ([...signs][0] ?? '')
}

/**
 * Through two points that differ; a single one says how many signs more there are, or, of two kinds of sign, how many
 * stand for one.
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
