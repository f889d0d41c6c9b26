// The planner of patches against the applier of @openai/agents-core on random patches: where that matches exactly and
// at one place, the same bytes; where it guesses, nothing is applied, and a diff is offered that then applies.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { HunkFailure } from '../../../src/engine/failure.ts'
import { type Hunk, oldLines } from '../../../src/engine/patch/hunk.ts'
import { parseDiff } from '../../../src/engine/patch/v4a.ts'
import { writeDiff } from '../../../src/engine/patch/write-hunk.ts'
import { planHunks } from '../../../src/engine/plan/apply-hunks.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const MODULE = join(import.meta.dirname, '../../clients/node_modules/@openai/agents-core/dist/utils/applyDiff.mjs')
const CASES = often(10_000, 1000)
const LIMIT = 1 << 20

const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'total', 'count', 'value', 'items']

/** A file like code: functions, some in classes, whose lines are partly the same. */
function randomCode(random: Random): string[] {
  const lines: string[] = []
  const statement = (): string =>
    random.pick([
      `${random.pick(NAMES)} = ${random.pick(NAMES)}(${random.int(4)})`,
      `return ${random.pick(NAMES)}`,
      `if ${random.pick(NAMES)}: pass`,
      `log("${random.pick(NAMES)}")`
    ])
  for (let i = 1 + random.int(4); i > 0; i--) {
    const indent = random.chance(30) ? '    ' : ''
    if (indent !== '') lines.push(`class ${random.pick(NAMES)}:`)
    for (let j = 1 + random.int(3); j > 0; j--) {
      lines.push(`${indent}def ${random.pick(NAMES)}():`)
      for (let k = 1 + random.int(4); k > 0; k--) lines.push(`${indent}    ${statement()}`)
      if (random.chance(60)) lines.push('')
    }
  }
  return lines
}

/** What a model gets wrong. */
const MISTAKES: ((text: string, random: Random) => string)[] = [
  text => text.trimStart(),
  text => `  ${text}`,
  text => `${text}  `,
  text => text.replace('    ', '\t')
]

/** Hunks for a file in its order, with and without anchors and mistakes. */
function randomHunks(random: Random, file: readonly string[]): Hunk[] {
  const hunks: Hunk[] = []
  const isFlawed = random.chance(50)
  for (let at = random.int(file.length), left = 1 + random.int(3); left > 0 && at < file.length; left--) {
    const count = Math.min(file.length - at, random.int(4))
    const lines: Hunk['lines'][number][] = file.slice(at, at + count).map(text => ({
      kind: random.chance(50) ? 'keep' : 'remove',
      text: isFlawed && random.chance(20) ? random.pick(MISTAKES)(text, random) : text
    }))
    if (random.chance(70) || count === 0) {
      const put = { kind: 'add' as const, text: `    ${random.pick(NAMES)} = new_${random.int(1000)}` }
      lines.splice(random.int(lines.length + 1), 0, put)
    }
    const header = file.slice(0, at).findLast(line => /^\s*(?:def|class)/.test(line))
    const anchors =
      header !== undefined && random.chance(40)
        ? [isFlawed && random.chance(30) ? `${header.slice(0, -4)}x():` : random.chance(20) ? header.trim() : header]
        : []
    const at_end = at + count === file.length ? random.chance(50) : isFlawed && random.chance(5)
    hunks.push({ anchors, lines, at_end, patch_line: 1 })
    at += count + random.int(6)
  }
  return hunks.some(({ lines }) => lines.some(({ kind }) => kind !== 'keep')) ? hunks : randomHunks(random, file)
}

/**
 * Whether all that the hunks name is in the file as it is, and once: the strictest reading, in which no order of search
 * matters. Written without what it checks.
 */
function isExactAndUnique(file: readonly string[], hunks: readonly Hunk[]): boolean {
  let cursor = 0
  for (const hunk of hunks) {
    const anchors = hunk.anchors.map(anchor => file.flatMap((line, i) => (line.trim() === anchor.trim() ? [i] : [])))
    if (anchors.some(lines => lines.length !== 1)) return false
    const anchor = anchors[0]?.[0] ?? -1
    const sought = oldLines(hunk)
    const from = Math.max(cursor, anchor + 1)
    let first = hunk.at_end ? file.length - sought.length : anchor + 1
    if (sought.length > 0 && !hunk.at_end) {
      // The vendor's lines have an empty one behind the final break.
      const lines = [...file, '']
      const places = lines.flatMap((_, i) => (sought.every((text, j) => lines[i + j] === text) ? [i] : []))
      const below = places.filter(place => place >= from)
      if (below.length !== 1) return false
      first = below[0]!
      const last = hunk.lines.findLast(({ kind }) => kind !== 'add')
      if (first + sought.length > file.length && last?.kind === 'remove') return false
    } else if (sought.some((text, i) => file[first + i] !== text) || first < from) return false
    if (sought.length === 0 && !hunk.at_end && anchor === -1) return false
    cursor = first + sought.length
  }
  return true
}

t.test(
  'agrees with the applier of @openai/agents-core',
  { skip: !existsSync(MODULE) && 'it is not installed (npm ci --prefix test/clients)' },
  async t => {
    const { applyDiff } = (await import(MODULE)) as { applyDiff(input: string, diff: string): string }
    const counts = { exact: 0, guessed: 0, corrected: 0, block: 0 }
    for (let i = 0; i < CASES; i++) {
      const seed = SEED * 100_000 + i
      const random = new Random(seed)
      const lines = randomCode(random)
      const ending = random.chance(20) ? '\r\n' : '\n'
      const text = lines.map(line => line + ending).join('')
      const hunks = randomHunks(random, lines)
      const diff = writeDiff(hunks)
      let theirs: string | undefined
      try {
        const applied = applyDiff(text, diff)
        // A final line break stays, also where they would put lines behind it or remove it.
        theirs = applied === '' || applied.endsWith('\n') ? applied : applied + ending
      } catch {
        theirs = undefined
      }
      const parsed = parseDiff(diff)
      if (!parsed.ok) {
        t.fail(`seed ${seed}: ${JSON.stringify(parsed.failure)}`)
        break
      }
      const planned = planHunks(Buffer.from(text), parsed.value, { max_result_size: LIMIT })
      const ours = planned.ok ? Buffer.concat(planned.value.pieces).toString() : undefined
      if (isExactAndUnique(lines, hunks)) {
        counts.exact++
        if (theirs === undefined || ours !== theirs) {
          t.strictSame({ seed, diff, ours, failure: planned.ok ? undefined : planned.failure }, { ours: theirs, text })
          break
        }
        continue
      }
      if (planned.ok) {
        // Below an anchor that begins a block, the one match in it: the first, which the vendor takes too.
        counts.block++
        if (theirs !== ours) {
          t.strictSame({ seed, diff, ours }, { ours: theirs, text })
          break
        }
        continue
      }
      if (theirs === undefined || theirs === text) continue
      counts.guessed++
      const fixes = (planned.failure as HunkFailure).diffs
      const isReady =
        fixes.length > 0 &&
        fixes.every(fix => {
          const again = parseDiff(fix.diff)
          return again.ok && planHunks(Buffer.from(text), again.value, { max_result_size: LIMIT }).ok
        })
      if (isReady) counts.corrected++
    }
    t.comment(JSON.stringify(counts))
    t.ok(counts.exact > CASES / 20 && counts.guessed > CASES / 20, JSON.stringify(counts))
    // Where two hunks have several places each, none is chosen: 6 % of these.
    t.ok(counts.corrected >= 0.9 * counts.guessed, `${counts.corrected} of ${counts.guessed} can be corrected`)
  }
)
