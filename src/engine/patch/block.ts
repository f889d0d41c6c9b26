// Which lines belong to the block that a line begins, judged by indentation alone. Does not know languages or hunks.
import type { FileLines } from './file-lines.ts'

/** How a line begins that, as deep as the first, closes a block. */
const CLOSING = /^(?:[)\]}]|<\/|(?:end|fi|done|esac)\b)/
/** How such a line ends where the block goes on with it: `): {`, `} else {`, `):`. */
const OPENING = /[([{:]$/
/** Lines as deep as the first with which a block goes on: a brace of its own, a branch, a label, a comment. */
const GOING_ON =
  /^(?:\{|(?:else|elif|elsif|catch|except|finally|rescue|ensure|then|do)\b|(?:case\b.*|default|public|private|protected) ?:$|#|\/[/*])/

/**
 * The index behind the last line of the block that line `first` begins: the lines below that are deeper, up to the
 * next that is not, and the line that closes it. Lines as deep that go on with it belong to it where deeper ones
 * follow. Undefined where the line begins none: the next line with a text is no deeper, or can't be compared, because
 * one of the two is indented with tabs and the other with spaces. That is also so where a line inside of it can't.
 */
export function blockEnd(file: FileLines, first: number): number | undefined {
  const own = indentation(file, first)
  let end: number | undefined
  for (let i = first + 1; i < file.count; i++) {
    const [start, stop] = file.trimmed(i)
    if (start === stop) continue
    const indent = indentation(file, i)
    if (indent.length > own.length) {
      if (!indent.startsWith(own)) return undefined
      end = i + 1
      continue
    }
    if (!own.startsWith(indent)) return undefined
    if (indent.length < own.length) break
    const text = file.bytes.toString('utf8', start, Math.min(stop, start + LOOKED_AT))
    if (CLOSING.test(text)) {
      if (OPENING.test(text)) continue
      return end === undefined ? undefined : i + 1
    }
    if (!GOING_ON.test(text)) break
  }
  return end
}

/** Bytes of a line that are looked at. */
const LOOKED_AT = 200

function indentation(file: FileLines, index: number): string {
  const start = file.starts[index]!
  return file.bytes.toString('latin1', start, file.trimmed(index)[0])
}
