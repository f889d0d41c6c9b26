// One constant rule for the white space at the start of lines: read off old_text and the file, applied to new_text.
// Does not know files.

const LINE = /^([^\S\n]*)([^]*)$/

/**
 * `replacement` with the indentation that `found` has where `sought` has another, if that is one rule for all lines:
 * so many signs more or fewer, or tabs for so many spaces (and the reverse). White space at the end of lines doesn't
 * count. Undefined where the texts differ in more, or the rule says nothing of a line of `replacement`. Breaks are
 * `\n`.
 */
export function reindented(sought: string, found: string, replacement: string): string | undefined {
  const [from, to] = [sought.split('\n'), found.split('\n')]
  if (from.length !== to.length) return undefined
  const pairs: Indents[] = []
  for (const [i, line] of from.entries()) {
    const [a, b] = [parted(line), parted(to[i]!)]
    if (a.rest !== b.rest) return undefined
    if (a.rest !== '') pairs.push({ from: a.indent, to: b.indent })
  }
  const [first] = pairs
  if (first === undefined) return undefined
  // The first line may have lost its own indentation only.
  const rule = ruleOf(pairs.length > 1 ? pairs.slice(1) : pairs)
  if (rule === undefined) return undefined
  const lines: string[] = []
  for (const [i, line] of replacement.split('\n').entries()) {
    const indent = LINE.exec(line)![1]!
    const instead = line.trim() === '' ? indent : i === 0 && indent === first.from ? first.to : rule(indent)
    if (instead === undefined) return undefined
    lines.push(instead + line.slice(indent.length))
  }
  return lines.join('\n')
}

interface Indents {
  from: string
  to: string
}

function parted(line: string): { indent: string; rest: string } {
  const [, indent, rest] = LINE.exec(line)!
  return { indent: indent!, rest: rest!.trimEnd() }
}

type Rule = (indent: string) => string | undefined

/**
 * The indentation for another: `to = from × factor + shift`, each of one kind of sign; undefined if the pairs don't
 * agree.
 */
function ruleOf(pairs: readonly Indents[]): Rule | undefined {
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
