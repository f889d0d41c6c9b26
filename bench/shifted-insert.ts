// How often a corrected call adds lines at the intended depth, when old_text and new_text are shifted by some steps:
// each block of the corpus's files, edited in each place, at each depth. Does not know any other case.
import { readdirSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { planTextEdits } from '../src/engine/plan/replace-text.ts'
import { indentationOf } from '../src/engine/text/indentation.ts'
import { makeRandom, type Random, shuffled } from './random.ts'

/** `right`, `wrong`: the offered call, sent unchanged; `left_out`: a call without new_text; `none`: no call. */
export type InsertResult = 'right' | 'wrong' | 'left_out' | 'none'

export interface Insert {
  file: string
  kind: string
  /**
   * What the call does, `added` or `replaced`, and by how many steps it is shifted; `lost`: by all of its indentation.
   */
  how: string
  isLost: boolean
  old_text: string
  new_text: string
  /** The intended file. */
  meant: string
}

const KINDS: Record<string, string> = {
  '.py': 'Python',
  '.ts': 'TypeScript',
  '.tsx': 'TypeScript',
  '.yml': 'YAML',
  '.yaml': 'YAML',
  '.go': 'tabs',
  '.mk': 'tabs'
}
const OPTIONS = { line_endings: 'adapt', max_result_size: 1 << 24 } as const
/** The most lines of a block. */
const LONGEST = 8
/** Steps by which a block is shifted; `LOST`: all of its indentation. */
const LOST = -Infinity
const SHIFTS = [-3, -2, -1, 1, 2, 3, LOST]
const MADE: Record<string, readonly [string, string]> = {
  Python: ['added_first(here)', 'added_second(there)'],
  TypeScript: ['addedFirst(here)', 'addedSecond(there)'],
  YAML: ['added_first: here', 'added_second: there'],
  tabs: ['added_first here', 'added_second there']
}

export const kindOf = (path: string): string | undefined =>
  /^makefile$/i.test(basename(path)) ? 'tabs' : KINDS[extname(path)]

/** All files of these kinds below a folder, sorted by path. */
export const filesToShift = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => kindOf(path) !== undefined)
    .sort()
    .map(path => join(folder, path))

const indentOf = (line: string): string => /^[ \t]*/.exec(line)![0]
const isBlank = (line: string): boolean => line.trim() === ''

/** Up to `most` edits of a file, in an order that depends on the seed. */
export function insertsIn(path: string, bytes: Buffer, most: number, seed: number): Insert[] {
  const text = bytes.toString()
  const { style, width } = indentationOf(bytes)
  const unit = style === 'tabs' ? '\t' : style === 'spaces' ? ' '.repeat(width!) : undefined
  if (unit === undefined || text.includes('\r')) return []
  const lines = text.split('\n')
  const random = makeRandom(seed)
  const folded = text.replace(/\s+/g, '')
  const isOnce = (block: readonly string[]): boolean => {
    const sought = block.join('').replace(/\s+/g, '')
    return folded.indexOf(sought) === folded.lastIndexOf(sought)
  }
  const found: Insert[] = []
  const starts = shuffled(
    Array.from({ length: lines.length - 1 }, (_, i) => i),
    random
  )
  for (const start of starts) {
    if (found.length >= most) break
    const block = lines.slice(start, start + 2 + random(LONGEST - 1))
    const deep = block.filter(line => !isBlank(line)).map(line => indentOf(line))
    const isRegular = deep.every(indent => indent.replaceAll(unit, '') === '')
    if (isBlank(block[0]!) || isBlank(block.at(-1)!) || deep.length < 2 || !isRegular || !isOnce(block)) continue
    const least = Math.min(...deep.map(indent => indent.length / unit.length))
    const insert = insertInto(block, unit, least, kindOf(path)!, random)
    if (insert === undefined) continue
    const [before, after] = [lines.slice(0, start), lines.slice(start + block.length)]
    const meant = [...before, ...insert.edited, ...after].join('\n')
    found.push({ file: path, kind: kindOf(path)!, meant, how: insert.how, isLost: insert.isLost, ...insert.sent })
  }
  return found
}

function insertInto(block: readonly string[], unit: string, least: number, kind: string, random: Random) {
  const shifts = SHIFTS.filter(by => by === LOST || least + by >= 0)
  const by = shifts[random(shifts.length)]!
  const isReplaced = random(2) === 1
  const filled = block.flatMap((line, i) => (isBlank(line) ? [] : [i]))
  const at = filled[random(filled.length)]!
  const depthOf = (line: string): number => indentOf(line).length / unit.length
  // From the least deep line of the block to one more than the line that it follows or replaces; where all indentation
  // is lost, as a line beside it.
  const depths =
    by === LOST
      ? [block[at]!, block[filled[filled.indexOf(at) + 1] ?? at]!].map(depthOf)
      : Array.from({ length: depthOf(block[at]!) + 2 - least }, (_, i) => least + i)
  const depth = depths[random(depths.length)]!
  const [first, second] = MADE[kind]!
  const edited = isReplaced
    ? [...block.slice(0, at), indentOf(block[at]!) + first, unit.repeat(depth) + second, ...block.slice(at + 1)]
    : [...block.slice(0, at + 1), unit.repeat(depth) + first, ...block.slice(at + 1)]
  const shifted = (all: readonly string[]): string =>
    all
      .map(line => {
        if (isBlank(line)) return line
        if (by === LOST) return line.trimStart()
        return by < 0 ? line.slice(-by * unit.length) : unit.repeat(by) + line
      })
      .join('\n')
  const old_text = shifted(block)
  if (old_text === block.join('\n')) return undefined
  const isLost = by === LOST
  const steps = isLost ? 'lost' : by > 0 ? `+${by}` : String(by)
  const how = `${isReplaced ? 'replaced' : 'added'} ${steps}`
  return { how, isLost, edited, sent: { old_text, new_text: shifted(edited) } }
}

/** The first offered call for an edit that fails, sent and judged; undefined if the edit doesn't fail. */
export function judgeInsert(bytes: Buffer, { old_text, new_text, meant }: Insert): InsertResult | undefined {
  const planned = planTextEdits(bytes, [{ old_text, new_text }], OPTIONS)
  if (planned.ok || planned.failure.code !== 'NO_MATCH') return undefined
  const edit = planned.failure.fixes.map(fix => ('edit' in fix ? fix.edit : undefined)).find(one => one !== undefined)
  if (edit === undefined || !('old_text' in edit)) return 'none'
  if (edit.new_text === undefined) return 'left_out'
  const sent = planTextEdits(bytes, [{ ...edit, new_text: edit.new_text }], OPTIONS)
  return sent.ok && Buffer.concat(sent.value.pieces).toString() === meant ? 'right' : 'wrong'
}
