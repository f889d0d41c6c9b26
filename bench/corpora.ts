// The edited texts and their edits, made from seeds: every run works on the same bytes.
import { makeRandom, shuffled } from './random.ts'

export const CORPORA = ['ASCII', '2 % non-ASCII', 'CRLF', 'one long line'] as const
export type Corpus = (typeof CORPORA)[number]

export interface Edit {
  old_text: string
  new_text: string
}

/** A text, with edits to another text and back, so that a file can be edited again and again. */
export interface Case {
  name: string
  size: number
  bytes: Buffer
  there: Edit[]
  back: Edit[]
}

export const KB = 1000
export const MB = 1000 * KB

const PLAIN = ['value', 'table', 'offset', 'result', 'buffer', 'length', 'the', 'of', 'and', 'when', 'reads', 'writes']
const ACCENTED = ['größe', 'naïve', '数据', 'Überlauf', 'предел', '→', 'café', '😀']
const SEED = 20_240_517

/** About `size` bytes; each of the `edits` replaces two neighbouring lines that occur once. */
export function makeCase(corpus: Corpus, size: number, edits: number): Case {
  const random = makeRandom(SEED + size + CORPORA.indexOf(corpus))
  const separator = corpus === 'CRLF' ? '\r\n' : corpus === 'one long line' ? ';' : '\n'
  const lines: string[] = []
  for (let length = 0; length < size;) {
    const line = makeLine(lines.length, corpus === '2 % non-ASCII', random)
    lines.push(line)
    length += Buffer.byteLength(line) + separator.length
  }
  const stride = Math.floor((lines.length - 2) / edits)
  if (stride < 3) throw new Error('too many edits for so small a text')
  const places = Array.from({ length: edits }, (_, i) => i * stride + random(stride - 2))
  const there = shuffled(places, random).map(place => {
    const [first, second] = [lines[place]!, lines[place + 1]!]
    return {
      old_text: first + separator + second,
      new_text: first.replace('item_', 'renamed_item_') + separator + second + ' // seen'
    }
  })
  const back = there.map(({ old_text, new_text }) => ({ old_text: new_text, new_text: old_text })).reverse()
  const name = `${size >= MB ? `${size / MB} MB` : `${size / KB} KB`} ${corpus}`
  return { name, size, bytes: Buffer.from(lines.join(separator) + separator), there, back }
}

function makeLine(number: number, accented: boolean, random: (below: number) => number): string {
  const words = Array.from({ length: 3 + random(5) }, () => {
    // One word in eleven or so, of four characters: about 2 % of all characters.
    const from = accented && random(11) === 0 ? ACCENTED : PLAIN
    return from[random(from.length)]!
  })
  return `${'  '.repeat(random(4))}const item_${number} = lookup(table_${random(100)}, ${random(1000)}) /* ${words.join(' ')} */`
}
