// One edit of a file without HTTP, in several variants: floor, naive, the engine alone, the product.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe } from '../src/engine/report/describe.ts'
import { unifiedDiff } from '../src/engine/report/diff.ts'
import { planTextEdits } from '../src/engine/plan/replace-text.ts'
import { CORPORA, KB, makeCase, MB, type Case, type Corpus, type Edit } from './corpora.ts'
import { floorEdit } from './floor.ts'
import { concatReplace, naiveEdit, naiveReplace } from './naive.ts'
import { FAST, FULL, openProduct, type Mode } from './product.ts'
import { measure, type RoundOptions, type Variant } from './rounds.ts'
import { rowsOf, type Row } from './row.ts'

export const FLOOR = 'floor'
export const SYNCED_FLOOR = 'floor, synced'
export const NAIVE = 'naive'
export const ENGINE = 'engine in memory'
export const DIFF = '— of it the diff'
export const CONCAT = 'indexOf and concat in memory'
export const FAST_PRODUCT = 'product, fast/local'
export const FULL_PRODUCT = 'product, full/shared'

/** Above this many edits, fewer are measured, and jsdiff makes no diff: it would take minutes. */
const MANY = 100

interface Cell {
  corpus: Corpus
  size: number
  edits: number
}

const cell = (corpus: Corpus, size: number, edits: number): Cell => ({ corpus, size, edits })

function cellsOf(quick: boolean): Cell[] {
  const one = [cell('ASCII', 10 * KB, 1), cell('ASCII', MB, 1), cell('ASCII', MB, 100), cell('ASCII', 10 * MB, 1)]
  if (quick) return one
  const many = [
    cell('ASCII', 10 * KB, 10),
    ...one.slice(1, 3),
    cell('ASCII', MB, 1000),
    ...one.slice(3),
    cell('ASCII', 10 * MB, 100),
    cell('ASCII', 10 * MB, 1000)
  ]
  return [one[0]!, ...many, ...CORPORA.slice(1).flatMap(corpus => [cell(corpus, MB, 1), cell(corpus, 10 * MB, 1)])]
}

export async function inProcess(
  base: string,
  quick: boolean,
  options: RoundOptions,
  progress: (line: string) => void
): Promise<Row[]> {
  const rows: Row[] = []
  for (const { corpus, size, edits } of cellsOf(quick)) {
    const it = makeCase(corpus, size, edits)
    progress(`${it.name}, ${edits} edits`)
    rows.push(...(await inFolder(base, it, FAST, options)))
  }
  // Separate from the others: an fsync also waits for what they have written.
  for (const size of quick ? [10 * KB] : [10 * KB, MB, 10 * MB]) {
    const it = makeCase('ASCII', size, 1)
    progress(`${it.name}, synced`)
    rows.push(...(await inFolder(base, it, FULL, options)))
  }
  return rows
}

async function inFolder(base: string, it: Case, mode: Mode, options: RoundOptions): Promise<Row[]> {
  const root = join(base, 'in-process')
  mkdirSync(root)
  const product = await openProduct(root, join(base, 'in-process-state'), mode)
  try {
    const after = Buffer.from(naiveReplace(it.bytes.toString(), it.there))
    const onDisk: OnDisk = (name, against, edit) => diskWay(root, it, after, { name, against, edit })
    const floor = mode.durability === 'full' ? SYNCED_FLOOR : FLOOR
    const variants = [
      await onDisk(floor, floor, null),
      await onDisk(mode === FULL ? FULL_PRODUCT : FAST_PRODUCT, floor, (path, edits) =>
        product.edit(path.slice(root.length + 1), edits)
      )
    ]
    if (mode === FAST) {
      const diff = it.there.length <= MANY
      if (diff || it.size <= MB) {
        variants.push(
          await onDisk(diff ? NAIVE : `${NAIVE}, no diff`, FLOOR, (path, edits) => naiveEdit(path, edits, diff))
        )
      }
      variants.push(...engineVariants(it, after))
      if (it.there.length > 1) variants.push(inMemory(CONCAT, () => concatReplace(it.bytes, it.there)))
    }
    return rowsOf(it.name, it.there.length, await measure(variants, options))
  } finally {
    await product.close()
    await rm(root, { recursive: true })
    await rm(join(base, 'in-process-state'), { recursive: true, force: true })
  }
}

type EditFile = (path: string, edits: readonly Edit[]) => Promise<object>
type OnDisk = (name: string, against: string, edit: EditFile | null) => Promise<Variant>

/**
 * Edits its own files in turn, there and back; there are enough of them that none is edited again within 20 ms. Without
 * `edit`: the floor.
 */
async function diskWay(
  root: string,
  it: Case,
  after: Buffer,
  { name, against, edit }: { name: string; against: string; edit: EditFile | null }
): Promise<Variant> {
  const small = it.size < MB
  const folder = join(root, name.replaceAll(/\W+/g, '-'))
  mkdirSync(folder)
  const files = Array.from({ length: small ? 120 : 2 }, (_, i) => ({ path: join(folder, `file${i}.ts`), there: true }))
  for (const { path } of files) writeFileSync(path, it.bytes)
  const step = async (file: (typeof files)[number]): Promise<void> => {
    if (edit === null) return floorEdit(file.path, against === SYNCED_FLOOR)
    await edit(file.path, file.there ? it.there : it.back)
    file.there = !file.there
  }
  const first = files[0]!
  for (const expected of edit === null ? [it.bytes] : it.there.length > MANY ? [after] : [after, it.bytes]) {
    await step(first)
    if (!readFileSync(first.path).equals(expected)) {
      throw new Error(`${name} makes other bytes of ${it.name} than the naive variant`)
    }
  }
  let next = 0
  const operations = small ? 40 : 1
  return {
    name,
    against,
    async run() {
      for (let i = 0; i < operations; i++) await step(files[next++ % files.length]!)
      return { operations }
    }
  }
}

function engineVariants(it: Case, after: Buffer): Variant[] {
  const plan = () => {
    const planned = planTextEdits(it.bytes, it.there, { line_endings: 'adapt', max_result_size: 1_000_000_000 })
    if (!planned.ok) throw new Error(planned.failure.code)
    return planned.value
  }
  const made = plan()
  if (!Buffer.concat([...made.pieces]).equals(after)) {
    throw new Error(`the engine makes other bytes of ${it.name} than the naive variant`)
  }
  const diff = (of: typeof made) => unifiedDiff(it.bytes, of, { path: 'file.ts', exists: true, max_lines: 100 })
  const operations = it.size < MB ? 40 : 1
  const described = (of: typeof made) => describe(it.bytes, of, { context_lines: 3, dry_run: false })
  const whole = inMemory(
    ENGINE,
    () => {
      const fresh = plan()
      return [described(fresh), diff(fresh)]
    },
    operations
  )
  const last = inMemory(DIFF, () => diff(made), operations)
  if (it.there.length > MANY) return [whole, last]
  return [
    whole,
    inMemory('— of it the plan', plan, operations),
    inMemory('— of it the description', () => described(made), operations),
    last
  ]
}

function inMemory(name: string, work: () => unknown, operations = 1): Variant {
  return {
    name,
    against: FLOOR,
    async run() {
      for (let i = 0; i < operations; i++) work()
      return { operations }
    }
  }
}
