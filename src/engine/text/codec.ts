// Text in an encoding other than UTF-8: guesses the encoding, and converts the bytes to UTF-8 and back. Does not know
// files. Callers pass in the tables of encodings, because they are loaded only when needed.
import { HighBytes, utf16MarkOf } from './encoding.ts'

/** Tables of encodings, as `iconv-lite` has them. */
interface Tables {
  decode(bytes: Buffer, encoding: string): string
  encode(text: string, encoding: string): Buffer
}

const CODEC_NAMES = [
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1256',
  'koi8-r',
  'shift_jis',
  'euc-kr',
  'euc-jp',
  'gb18030',
  'big5'
] as const

/** Encodings of text that isn't UTF-8. */
export type CodecName = (typeof CODEC_NAMES)[number]

export const isCodecName = (name: unknown): name is CodecName => CODEC_NAMES.includes(name as CodecName)

/** The encodings of a text before a change and after it; absent for UTF-8. */
export interface Encodings {
  before?: CodecName
  after?: CodecName
}

/** One encoding. Its functions don't treat byte-order marks specially: U+FEFF is a character. */
export interface Codec {
  readonly name: CodecName
  /** Whether a mark in the file names it; otherwise it is only likely. */
  readonly certain: boolean
  decode(bytes: Buffer): string
  /** Only for text that the encoding can hold; see `unencodable`. */
  encode(text: string): Buffer
  /** Whether no character has bytes on both sides of `at`. False if the next bytes don't tell. */
  parts(bytes: Buffer, at: number): boolean
}

/** Text whose file isn't UTF-8, converted to UTF-8. */
export interface DecodedText {
  codec: Codec
  text: Buffer
}

/** The first character of `text` that the encoding can't hold; undefined if it can hold all of it. */
export const unencodable = (codec: Codec, text: string): string | undefined =>
  codec.decode(codec.encode(text)) === text
    ? undefined
    : Array.from(text).find(character => codec.decode(codec.encode(character)) !== character)

const UTF16: Record<'utf-16le' | 'utf-16be', Codec> = {
  'utf-16le': {
    name: 'utf-16le',
    certain: true,
    decode: bytes => bytes.toString('utf16le'),
    encode: text => Buffer.from(text, 'utf16le'),
    parts: (bytes, at) => at % 2 === 0 && (bytes[at + 1]! & 0xfc) !== 0xdc
  },
  'utf-16be': {
    name: 'utf-16be',
    certain: true,
    decode: bytes => Buffer.from(bytes).swap16().toString('utf16le'),
    encode: text => Buffer.from(text, 'utf16le').swap16(),
    parts: (bytes, at) => at % 2 === 0 && (bytes[at]! & 0xfc) !== 0xdc
  }
}

/** The encoding with this name. */
export function codecNamed(name: CodecName, tables: Tables): Codec {
  if (name === 'utf-16le' || name === 'utf-16be') return UTF16[name]
  return {
    name,
    certain: false,
    decode: part => tables.decode(part, name),
    encode: text => tables.encode(text, name),
    parts: isParted
  }
}

/** The encoding of UTF-16 text with a byte-order mark; null for all other text. */
export function utf16Of(bytes: Buffer): Codec | null {
  const mark = utf16MarkOf(bytes)
  return mark === null ? null : UTF16[mark]
}

/** Bytes to decode or encode before other work may run. */
const SLICE = 1 << 17

/**
 * Text that isn't UTF-8, and its encoding; null if that can't be determined, or if most of the non-ASCII bytes are
 * UTF-8. `bytes` must not be UTF-8, and must have no NUL unless a UTF-16 mark begins them; encoding the text gives back
 * every byte. Linear; lets other work run after each slice.
 */
export async function decodedText(
  bytes: Buffer,
  tables: Tables,
  rest: () => Promise<unknown>
): Promise<DecodedText | null> {
  for (const codec of await codecsOf(bytes, tables, rest)) {
    const text = await decodedWith(codec, bytes, rest)
    if (text !== null) return { codec, text }
  }
  return null
}

/** The bytes as UTF-8, if they are whole characters and encoding them gives back the same bytes; else null. */
export async function decodedWith(codec: Codec, bytes: Buffer, rest: () => Promise<unknown>): Promise<Buffer | null> {
  if (codec.certain && bytes.length % 2 !== 0) return null
  const decoded: Buffer[] = []
  for await (const slice of slicesOf(bytes, codec.parts, rest)) {
    const text = codec.decode(slice)
    if (!codec.encode(text).equals(slice) || !text.isWellFormed()) return null
    decoded.push(Buffer.from(text))
  }
  return Buffer.concat(decoded)
}

/** Length in bytes of UTF-8 text in this encoding, which must be able to hold it. */
export async function encodedLength(codec: Codec, text: Buffer, rest: () => Promise<unknown>): Promise<number> {
  let length = 0
  const parts = (bytes: Buffer, at: number) => (bytes[at]! & 0xc0) !== 0x80
  for await (const slice of slicesOf(text, parts, rest)) length += codec.encode(slice.toString()).length
  return length
}

/** The bytes in slices that cut no character; larger slices if the next such place is far. */
async function* slicesOf(bytes: Buffer, parts: Codec['parts'], rest: () => Promise<unknown>): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    if (start > 0) await rest()
    let end = Math.min(bytes.length, start + SLICE)
    while (end < bytes.length && !parts(bytes, end)) end++
    yield bytes.subarray(start, end)
    start = end
  }
}

/** The likely encodings of text that isn't UTF-8, the likeliest first. */
async function codecsOf(bytes: Buffer, tables: Tables, rest: () => Promise<unknown>): Promise<Codec[]> {
  const certain = utf16Of(bytes)
  if (certain !== null) return [certain]
  const high = new HighBytes()
  for await (const slice of slicesOf(bytes, isParted, rest)) high.push(slice)
  if (high.encoding === null) return []
  const sample = sampleOf(bytes)
  const scored: { name: CodecName; score: number }[] = []
  for (const candidate of CANDIDATES) {
    scored.push({ name: candidate.name, score: scoreOf(sample, candidate, tables) })
    if (sample.length > STRETCH) await rest()
  }
  const ranked = scored
    .filter(({ score, name }) => score > (name === 'windows-1252' ? 0 : ENOUGH))
    // Of two equal ones, the earlier comes first.
    .sort((a, b) => b.score - a.score)
  return ranked.map(({ name }) => codecNamed(name, tables))
}

/** The lowest byte in characters of several bytes, in all encodings but UTF-16. */
const LOWEST = 0x30
const isParted: Codec['parts'] = (bytes, at) => bytes[at]! < LOWEST

/** Least score to assume an encoding that isn't the most common one. Chosen on the samples. */
const ENOUGH = 0.35
/** Characters needed for a sure judgement; one alone says little. Chosen on the samples. */
const FEWEST = 3
/** Bytes to judge the encoding by: in all, in one stretch, and before the stretch's first non-ASCII byte. Chosen. */
const SAMPLE = 1 << 14
const STRETCH = 1 << 8
const BEFORE = 1 << 5

/** Stretches with non-ASCII bytes, until there are enough of them. Cuts no character. */
function sampleOf(bytes: Buffer): Buffer {
  const stretches: Buffer[] = []
  let size = 0
  let end = 0
  while (end < bytes.length && size < SAMPLE) {
    let first = end
    while (first < bytes.length && bytes[first]! < 0x80) first++
    if (first === bytes.length) break
    const start = Math.max(end, first - BEFORE)
    end = Math.min(bytes.length, first + STRETCH)
    while (end < bytes.length && bytes[end]! >= LOWEST) end++
    stretches.push(bytes.subarray(start, end))
    size += end - start
  }
  return Buffer.concat(stretches)
}

interface Candidate {
  name: CodecName
  /** The letters of the languages that use it. */
  letters: RegExp
  /**
   * For an encoding with two bytes per character: the ranges of first bytes of characters in common use. Absent for an
   * encoding with one byte per character.
   */
  common?: readonly (readonly [number, number])[]
}

/** The encodings to consider. Of several that fit a text equally well, the first counts. */
const CANDIDATES: readonly Candidate[] = [
  { name: 'windows-1252', letters: /\p{Script=Latin}/u },
  { name: 'windows-1250', letters: /\p{Script=Latin}/u },
  { name: 'windows-1251', letters: /\p{Script=Cyrillic}/u },
  { name: 'koi8-r', letters: /\p{Script=Cyrillic}/u },
  { name: 'windows-1253', letters: /\p{Script=Greek}/u },
  { name: 'windows-1256', letters: /\p{Script=Arabic}/u },
  {
    name: 'shift_jis',
    letters: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々、。「」・]/u,
    common: [
      [0x81, 0x83],
      [0x88, 0x97]
    ]
  },
  { name: 'euc-kr', letters: /\p{Script=Hangul}/u, common: [[0xb0, 0xc8]] },
  {
    name: 'gb18030',
    letters: /[\p{Script=Han}、。，：；（）！？“”]/u,
    common: [
      [0xa1, 0xa3],
      [0xb0, 0xd7]
    ]
  },
  {
    name: 'big5',
    letters: /[\p{Script=Han}、。，：；（）！？]/u,
    common: [
      [0xa1, 0xa2],
      [0xa4, 0xc6]
    ]
  },
  {
    name: 'euc-jp',
    letters: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々、。「」・]/u,
    common: [
      [0xa1, 0xa5],
      [0xb0, 0xcf]
    ]
  }
]

/** How well a text fits the encoding, from -1 to 1, judged by its non-ASCII characters. */
function scoreOf(sample: Buffer, candidate: Candidate, tables: Tables): number {
  const text = tables.decode(sample, candidate.name)
  // Characters that the encoding doesn't have, or that no text has.
  if (/[\ufffd\u0080-\u009f\ue000-\uf8ff]/.test(text)) return -1
  const points =
    candidate.common === undefined ? pointsOfLetters(text, candidate) : pointsOfPairs(text, candidate, tables)
  return points.reduce((sum, point) => sum + point, 0) / Math.max(FEWEST, points.length)
}

const NOT_ASCII = /[^\0-\x7f]+/gu

/** Points for an alphabet: non-ASCII Latin letters occur singly among others; letters of other scripts form words. */
function pointsOfLetters(text: string, { letters }: Candidate): number[] {
  const isLatin = letters.source.includes('Latin')
  const points: number[] = []
  for (const { 0: run, index } of text.matchAll(NOT_ASCII)) {
    const [before, after] = [text[index - 1] ?? ' ', text[index + run.length] ?? ' ']
    const touchesLatin = /[a-z]/i.test(before) || /[a-z]/i.test(after)
    const inWord = /[a-z]/i.test(before) && /[a-z]/i.test(after)
    // An upper-case letter after a lower-case one.
    const isShouted = /\p{Ll}\p{Lu}/u.test(before + run + after)
    for (const character of run) {
      const isLetter = letters.test(character)
      if (isShouted) points.push(-0.5)
      else if (!isLetter) points.push(/\p{L}/u.test(character) || inWord ? -0.5 : isLatin ? 0.3 : 0)
      else if (isLatin) points.push(run.length > 2 ? -0.2 : touchesLatin ? 0.9 : 0.3)
      else points.push(touchesLatin ? -0.5 : run.length > 1 ? 0.9 : 0.2)
    }
  }
  return points
}

function pointsOfPairs(text: string, { name, letters, common = [] }: Candidate, tables: Tables): number[] {
  return Array.from(text.replace(/[\0-\x7f]+/g, ''), character => {
    const bytes = tables.encode(character, name)
    const first = bytes[0]!
    const isCommon = bytes.length === 2 && common.some(([from, to]) => first >= from && first <= to)
    return isCommon && letters.test(character) ? 1 : -0.6
  })
}
