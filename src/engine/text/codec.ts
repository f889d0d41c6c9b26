// Text in an encoding other than UTF-8: which one it is, as far as that can be told, and its bytes as UTF-8 and back.
// Does not know splices or files. The tables of encodings are handed in, as they are loaded only when they are needed.
import { HighBytes, utf16MarkOf } from './encoding.ts'

/** Tables of encodings: those of `iconv-lite`. */
export interface Tables {
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

/** The encodings of a text before a change and after it, each where it isn't UTF-8. */
export interface Encodings {
  before?: CodecName
  after?: CodecName
}

/** One encoding. No function knows byte-order marks: U+FEFF is a character. */
export interface Codec {
  readonly name: CodecName
  /** Whether a mark in the file says so; else it is only likely. */
  readonly certain: boolean
  decode(bytes: Buffer): string
  /** For text that it can hold; see `unencodable`. */
  encode(text: string): Buffer
  /** Whether no character has bytes before `at` and behind it. False where that can't be told from the next bytes. */
  parts(bytes: Buffer, at: number): boolean
}

/** Text that isn't UTF-8 in its file, in UTF-8. */
export interface DecodedText {
  codec: Codec
  text: Buffer
}

/** The first character of `text` that the encoding can't hold; undefined where it can hold all of it. */
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

/** The encoding of this name. */
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

/** That of text in UTF-16 with its mark; null for all others. */
export function utf16Of(bytes: Buffer): Codec | null {
  const mark = utf16MarkOf(bytes)
  return mark === null ? null : UTF16[mark]
}

/** In bytes: what is decoded or encoded before others may run. */
const SLICE = 1 << 17

/**
 * Text that isn't UTF-8, and its encoding; null where that can't be told, or most of what isn't ASCII is UTF-8. Every byte
 * of `bytes` (not UTF-8, and without NUL, unless a UTF-16 mark begins them) comes back when the text is encoded. Linear;
 * lets others run after each slice.
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

/** The bytes as UTF-8 if they are whole characters that come back when they are encoded; else null. */
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

/** How many bytes UTF-8 has in this encoding, which can hold it. */
export async function encodedLength(codec: Codec, text: Buffer, rest: () => Promise<unknown>): Promise<number> {
  let length = 0
  const parts = (bytes: Buffer, at: number) => (bytes[at]! & 0xc0) !== 0x80
  for await (const slice of slicesOf(text, parts, rest)) length += codec.encode(slice.toString()).length
  return length
}

/** The bytes in slices that no character is in two of; larger ones where such a place is far. */
async function* slicesOf(bytes: Buffer, parts: Codec['parts'], rest: () => Promise<unknown>): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    if (start > 0) await rest()
    let end = Math.min(bytes.length, start + SLICE)
    while (end < bytes.length && !parts(bytes, end)) end++
    yield bytes.subarray(start, end)
    start = end
  }
}

/** The encodings that text which isn't UTF-8 is likely to be in, the likeliest first. */
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
    // Where two are equal, the earlier one.
    .sort((a, b) => b.score - a.score)
  return ranked.map(({ name }) => codecNamed(name, tables))
}

/** The lowest byte in characters that have several, in all encodings but UTF-16. */
const LOWEST = 0x30
const isParted: Codec['parts'] = (bytes, at) => bytes[at]! < LOWEST

/** The score from which on an encoding is thought to be a file's, if it isn't the most common one. Chosen on the samples. */
const ENOUGH = 0.35
/** So many characters are needed for a sure judgement; one alone says little. Chosen on the samples. */
const FEWEST = 3
/** Bytes by which the encoding is judged, those of one stretch, and before its first that isn't ASCII. Chosen. */
const SAMPLE = 1 << 14
const STRETCH = 1 << 8
const BEFORE = 1 << 5

/** Stretches with what isn't ASCII, until there are enough of them. No character is parted. */
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
  /** The letters of its languages. */
  letters: RegExp
  /**
   * Of an encoding with two bytes for a character, which first bytes those have that are in common use. Without it, it
   * has one byte for each.
   */
  common?: readonly (readonly [number, number])[]
}

/** The encodings that are thought of. Of those that fit a text equally well, the first one counts. */
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

/** How well a text fits, from -1 to 1, by what its characters that aren't ASCII would be. */
function scoreOf(sample: Buffer, candidate: Candidate, tables: Tables): number {
  const text = tables.decode(sample, candidate.name)
  // What the encoding doesn't have, and what no text has.
  if (/[\ufffd\u0080-\u009f\ue000-\uf8ff]/.test(text)) return -1
  const points =
    candidate.common === undefined ? pointsOfLetters(text, candidate) : pointsOfPairs(text, candidate, tables)
  return points.reduce((sum, point) => sum + point, 0) / Math.max(FEWEST, points.length)
}

const NOT_ASCII = /[^\0-\x7f]+/gu

/** Of an alphabet: Latin letters that aren't ASCII stand alone among others; those of other scripts make words. */
function pointsOfLetters(text: string, { letters }: Candidate): number[] {
  const isLatin = letters.source.includes('Latin')
  const points: number[] = []
  for (const { 0: run, index } of text.matchAll(NOT_ASCII)) {
    const [before, after] = [text[index - 1] ?? ' ', text[index + run.length] ?? ' ']
    const touchesLatin = /[a-z]/i.test(before) || /[a-z]/i.test(after)
    const inWord = /[a-z]/i.test(before) && /[a-z]/i.test(after)
    // An upper-case letter behind a lower-case one.
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
