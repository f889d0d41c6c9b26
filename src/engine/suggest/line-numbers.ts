// Line numbers that were copied along from a viewer. Knows texts only.

const NUMBERED = /^[ \t]*(\d+)(\t|→|: ?|\|| \| ?)(.*)$/
/** Share of the lines with text that must have a number, and how far one may be from the last. */
const SHARE = 0.75
const LEAP = 50

/**
 * The text without the numbers before its lines; undefined unless three quarters of the lines have one, and they grow.
 */
export function withoutLineNumbers(text: string): string | undefined {
  let previous = -1
  let growing = 0
  let filled = 0
  const lines = text.split('\n').map(line => {
    if (line.trim() === '') return line
    filled++
    const found = NUMBERED.exec(line)
    if (found === null) return line
    const number = Number(found[1])
    if (previous === -1 || (number > previous && number - previous <= LEAP)) growing++
    previous = number
    return found[3]!
  })
  return filled > 0 && growing / filled >= SHARE ? lines.join('\n') : undefined
}
