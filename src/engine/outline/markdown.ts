// The outline of a Markdown document: headings with their sections, code blocks, front matter, by the block rules of
// CommonMark. Does not know edits.
import MarkdownIt, { type Token } from 'markdown-it'
import { isUtf8 } from 'node:buffer'
import { bomLength } from '../text/encoding.ts'
import { splitAtBreaks } from '../text/lines.ts'
import {
  type CodeBlock,
  type DocumentItem,
  type Gaps,
  type Heading,
  mostFrequentNumber,
  type Outline,
  SEPARATOR
} from './outline.ts'

/** Nesting of quotes and lists; anything deeper is ignored. */
const DEEPEST = 100

const parser = new MarkdownIt('commonmark', { html: true, maxNesting: DEEPEST })
parser.core.ruler.enableOnly(['normalize', 'block'])

/** A quote, a list item or the document: the headings with open sections in it. `end`: its last line. */
interface Frame {
  open: number[]
  end: number
}

/**
 * The outline of a document's bytes. Front matter is what YAML and TOML tools recognize: from a first line `---`, not
 * followed by a blank line, or `+++`, to the matching line.
 */
export function markdownOutline(bytes: Buffer): Outline & { type: 'document' } {
  const lines = splitAtBreaks(bytes.toString('utf8', bomLength(bytes)))
  const total = lines.at(-1) === '' ? lines.length - 1 : lines.length
  const matter = frontMatterLines(lines)
  const tokens = parser.parse((matter === 0 ? lines : lines.slice(matter)).join('\n'), {})
  const collected = new Collector(lines, total, isUtf8(bytes))
  if (matter > 0) collected.frontMatter(matter)
  for (const [i, token] of tokens.entries()) {
    if (token.map !== null) {
      collected.block(token, tokens[i + 1], [token.map[0] + matter + 1, Math.min(token.map[1] + matter, total)])
    } else if (token.type === 'blockquote_close' || token.type === 'list_item_close') collected.leave()
  }
  collected.leave()
  return { type: 'document', items: collected.items, gaps: collected.gaps() }
}

const isBlank = (line: string): boolean => /^[ \t]*$/.test(line)

function frontMatterLines(lines: readonly string[]): number {
  const mark = lines[0]!.trimEnd()
  if ((mark !== '---' && mark !== '+++') || lines[1] === undefined || isBlank(lines[1])) return 0
  // The first line doesn't end the front matter.
  const last = lines.findIndex(
    (line, i) => i > 0 && (line.trimEnd() === mark || (mark === '---' && line.trimEnd() === '...'))
  )
  return last + 1
}

class Collector {
  readonly items: DocumentItem[] = []
  readonly #lines: readonly string[]
  readonly #whole: boolean
  readonly #frames: Frame[]
  /** First lines of the top-level blocks, and which are headings. */
  readonly #blocks: { line: number; heading: boolean }[] = []

  constructor(lines: readonly string[], total: number, whole: boolean) {
    this.#lines = lines
    this.#whole = whole
    this.#frames = [{ open: [], end: total }]
  }

  frontMatter(last: number): void {
    this.items.push({ kind: 'front_matter', start_line: 1, end_line: last, within: -1 })
    this.#blocks.push({ line: 1, heading: false })
  }

  /** A block from line `first` to `last`, and the token after it. */
  block(token: Token, next: Token | undefined, [first, last]: [number, number]): void {
    const { type, level } = token
    if (level === 0) this.#blocks.push({ line: first, heading: type === 'heading_open' })
    if (type === 'blockquote_open' || type === 'list_item_open') {
      this.#frames.push({ open: [], end: this.#withoutBlanks(first, last) })
    } else if (type === 'heading_open') this.#heading(token, next!.content, [first, last])
    else if (type === 'fence' || type === 'code_block') this.#codeBlock(token, [first, last])
  }

  /** Ends the innermost quote or list item, or the document. */
  leave(): void {
    const { open, end } = this.#frames.pop()!
    for (const index of open) this.items[index]!.end_line = end
  }

  gaps(): Gaps {
    const found = { before_heading: [] as number[], after_heading: [] as number[], between: [] as number[] }
    for (const [i, { line, heading }] of this.#blocks.entries()) {
      const before = this.#blocks[i - 1]
      if (before === undefined) continue
      let blank = 0
      while (isBlank(this.#lines[line - 2 - blank] ?? '-')) blank++
      found[heading ? 'before_heading' : before.heading ? 'after_heading' : 'between'].push(blank)
    }
    return Object.fromEntries(
      Object.entries(found).flatMap(([place, counts]) => {
        const most = mostFrequentNumber(counts)
        return most === undefined ? [] : [[place, most]]
      })
    )
  }

  #heading({ tag, markup, level: depth }: Token, content: string, [start_line, heading_line]: [number, number]): void {
    const level = Number(tag.slice(1))
    const { open } = this.#frames.at(-1)!
    while (open.length > 0 && (this.items[open.at(-1)!] as Heading).level >= level) {
      this.items[open.pop()!]!.end_line = start_line - 1
    }
    const name = splitAtBreaks(content)
      .map(line => line.trim())
      .join(' ')
    const prefix = depth === 0 ? '' : this.#prefix(start_line, markup.startsWith('#') ? markup : '')
    this.items.push({
      kind: 'heading',
      name,
      level,
      ...this.#around(),
      start_line,
      end_line: heading_line,
      heading_line,
      prefix,
      ...this.#lossy(name)
    })
    open.push(this.items.length - 1)
  }

  #codeBlock({ type, info, markup, content, level: depth }: Token, [start_line, end_line]: [number, number]): void {
    const language = /^\S+/.exec(info.trim())?.[0]
    const item: CodeBlock = {
      kind: 'code_block',
      language,
      ...this.#around(),
      start_line,
      end_line,
      prefix: '',
      ...this.#lossy(info)
    }
    if (type === 'fence') {
      item.fence = {
        markup,
        closed: end_line - start_line > splitAtBreaks(content.replace(/\n$/, '')).length - (content === '' ? 1 : 0)
      }
    }
    if (depth > 0) item.prefix = this.#shared(this.#prefix(start_line, markup), start_line + 1, end_line)
    this.items.push(item)
  }

  #around(): { within: number; parent?: string } {
    const within = this.#frames.findLast(({ open }) => open.length > 0)?.open.at(-1) ?? -1
    if (within === -1) return { within }
    const { parent, name } = this.items[within] as Heading
    return { within, parent: parent === undefined ? name : `${parent}${SEPARATOR.document}${name}` }
  }

  #lossy = (text: string): { lossy?: true } => (!this.#whole && text.includes('\ufffd') ? { lossy: true } : {})

  /**
   * The prefix of the lines of a quote or a list item: the start of its first line up to `markup`, or to the text, with
   * list marks replaced by white space.
   */
  #prefix(line: number, markup: string): string {
    const text = this.#lines[line - 1]!
    const marks = /^(?:\s*(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s)))*\s*/.exec(text)![0]
    const upTo = markup === '' ? -1 : text.indexOf(markup)
    return text.slice(0, upTo === -1 ? marks.length : upTo).replace(/[^\s>]/g, ' ')
  }

  /** The longest part of a prefix that all non-blank lines from `first` to `last` begin with. */
  #shared(prefix: string, first: number, last: number): string {
    for (const line of this.#lines.slice(first - 1, last)) {
      if (/^[\s>]*$/.test(line)) continue
      while (!line.startsWith(prefix)) prefix = prefix.slice(0, -1)
    }
    return prefix
  }

  #withoutBlanks(first: number, last: number): number {
    while (last > first && /^[\s>]*$/.test(this.#lines[last - 1]!)) last--
    return last
  }
}
