// Servers that are killed at random moments under load, and started again. Row 22 of docs/threats.md; `npm run
// test:kills -- --kills N` for more.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Random, SEED } from '../random.ts'
import { startBare, type Running } from '../running.ts'
import { canMount, hashOf, many, makeFolders, row, sender, tempFiles, checkDocument } from './harness.ts'
import { linesOf, version, versionIn } from './versions.ts'

/** In CI. */
const USUAL = 60
const KILLS = many('kills', USUAL, 16)
// In CI it takes a minute and a half on an idle machine, and several times that on a busy one.
t.setTimeout(0)
/**
 * After so many kills, all that was acknowledged is read once more, and the next kills get new folders: so these stay
 * small in a long run, which also prints its progress.
 */
const BLOCK = 50
/** Servers with folders of their own: one is under load while the other starts, which takes most of the time. */
const LANES = 2

/** Counts for the report. */
interface Totals {
  kills: number
  edits: number
  files: number
  read: number
  temp: number
  torn: number
  lost: number
}

/** What one server has answered; `on` until it is killed. */
interface Load {
  on: boolean
  edits: number
  files: number
  read: number
}

/** Whether a server has answered `count` requests, and each kind at least once. */
const isEnough = ({ edits, files, read }: Load, count: number) =>
  edits + files + read >= count && Math.min(edits, files, read) > 0

/** A file and the last edit of it that was acknowledged. */
interface Numbered {
  name: string
  known: number
  how: 'edit' | 'lines' | 'in_place'
}

async function lane(t: Test, kills: number, random: Random, totals: Totals): Promise<void> {
  const files: Numbered[] = [
    ...[0, 1, 2, 3].map(i => ({ name: `e${i}`, known: 0, how: 'edit' as const })),
    ...[0, 1, 2].map(i => ({ name: `l${i}`, known: 0, how: 'lines' as const }))
  ]
  const here = makeFolders(t, Object.fromEntries(files.map(({ name }) => [name, version(0)])))
  if (canMount) {
    // A rename onto it fails with EBUSY, so it is written in place. What a kill leaves half written, the next start has
    // to take back.
    for (const [path, text] of [
      [join(here.base, 'source'), version(0)],
      [join(here.root, 'bound'), '']
    ] as const) {
      writeFileSync(path, text)
    }
    execFileSync('mount', ['--bind', join(here.base, 'source'), join(here.root, 'bound')])
    t.teardown(() => spawnSync('umount', ['-l', join(here.root, 'bound')]))
    files.push({ name: 'bound', known: 0, how: 'in_place' })
  }
  const at = (name: string) => join(here.root, name)
  const lose = (what: string) => {
    totals.lost++
    t.fail(`${what} (SEED=${SEED})`)
  }
  /** The new files that were acknowledged; file N holds version N. */
  const created = new Set<number>()
  let made = 0
  const pathOf = (n: number) => (n % 5 === 0 ? `new/folder${n}/f` : `new/${n}`)

  /** Edits, creates and reads at once until `load` is off; each file has one editor, which sends one edit at a time. */
  const work = (server: Running, load: Load): Promise<unknown> => {
    const send = sender(t, server.url, files.length + 2)
    const editors = files.map(async file => {
      while (load.on) {
        const next = file.known + 1
        const { status, text } = await (file.how === 'lines'
          ? send('/edit-lines', {
              path: file.name,
              start_line: 1,
              end_line: linesOf(file.known),
              new_text: version(next)
            })
          : send('/edit', { path: file.name, old_text: version(file.known), new_text: version(next) }))
        if (status === 0) return
        if (status !== 200) return lose(`${file.name}: ${text.slice(0, 300)}`)
        if (file.how === 'in_place' && !text.includes('in_place')) t.fail(`not in place: ${text.slice(0, 300)}`)
        file.known = next
        totals.edits++
        load.edits++
      }
    })
    const maker = async () => {
      while (load.on) {
        const n = made++
        const { status, text } = await send('/create', { path: pathOf(n), content: version(n) })
        if (status === 0) return
        if (status !== 200) return lose(`${pathOf(n)}: ${text.slice(0, 300)}`)
        created.add(n)
        totals.files++
        load.files++
      }
    }
    const reader = async () => {
      const renamed = files.filter(({ how }) => how !== 'in_place')
      while (load.on) {
        const file = random.pick(renamed)
        const from = file.known
        const { status, text } = await (random.chance(50)
          ? send('/inspect', { path: file.name, start_line: 1 })
          : send('/preview', { operation: 'edit', path: file.name, old_text: 'version', new_text: 'never written' }))
        if (status === 0) return
        if (status !== 200) return lose(`${file.name}: ${text.slice(0, 300)}`)
        const { hash_before, file_hash } = JSON.parse(text)
        // An edit may be seen before it is answered.
        const versions = Array.from({ length: file.known + 2 - from }, (_, i) => hashOf(version(from + i)))
        if (!versions.includes(hash_before ?? file_hash)) {
          lose(`read something else of ${file.name} than versions ${from} to ${file.known + 1}: ${text.slice(0, 300)}`)
        }
        totals.read++
        load.read++
      }
    }
    return Promise.all([...editors, maker(), reader()])
  }

  const start = () => startBare(here.root, here.state, '--log-level', 'error', '--no-docs')
  let server = await start()
  t.teardown(() => {
    server.child.kill('SIGKILL')
  })
  for (let kill = 0; kill < kills; kill++) {
    const load: Load = { on: true, edits: 0, files: 0, read: 0 }
    const first = made
    const enough = random.int(60) + 5
    const working = work(server, load)
    // After some answers of each kind, not after some time: on a busy machine it would be killed before it has done any.
    while (!isEnough(load, enough) && server.child.exitCode === null) await sleep(1)
    await sleep(random.int(20))
    server.child.kill('SIGKILL')
    await once(server.child, 'close')
    load.on = false
    await working
    totals.kills++
    totals.temp += tempFiles(here.root).length
    if (canMount && versionIn(at('bound')) === null) totals.torn++
    server = await start()
    for (const file of files) {
      const found = versionIn(at(file.name))
      // One more than was acknowledged may be there: the answer was lost with the server.
      if (found !== file.known && found !== file.known + 1) lose(`${file.name}: version ${found} after ${file.known}`)
      file.known = found ?? file.known
    }
    for (let n = first; n < made; n++) {
      if (created.has(n) && versionIn(at(pathOf(n))) !== n) lose(`${pathOf(n)} is gone or not whole`)
    }
    for (const name of tempFiles(here.root)) lose(`${name} is left after the start`)
  }
  // Once more, and also the files for which no answer came: each is there whole or not at all.
  for (const n of created) if (versionIn(at(pathOf(n))) !== n) lose(`${pathOf(n)} is gone or not whole`)
  for (const entry of readdirSync(here.root, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && versionIn(join(entry.parentPath, entry.name)) === null) lose(`${entry.name} is not whole`)
  }
  t.equal(await server.stop(), 0)
}

row(
  22,
  'kill -9 at any moment',
  {
    done:
      `${USUAL} kills of a server at random moments under load (/edit, /edit-lines, /create, /inspect, /preview; eight ` +
      'files, one of them bind-mounted and so written in place), each followed by a start and a check of all that was ' +
      'acknowledged (`npm run test:kills -- --kills N` for more); 30 more on the workspace alone in ' +
      '`test/folder/commit/crash.test.ts`',
    skip: process.platform === 'linux' ? false : 'needs /proc'
  },
  async t => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const totals: Totals = { kills: 0, edits: 0, files: 0, read: 0, temp: 0, torn: 0, lost: 0 }
    while (totals.kills < KILLS) {
      const block = Math.min(BLOCK, KILLS - totals.kills)
      await t.test(`${block} kills`, async t => {
        await Promise.all(
          Array.from({ length: LANES }, (_, i) => lane(t, Math.floor((block + i) / LANES), random, totals))
        )
      })
      t.comment(
        `${totals.kills} kills so far: ${totals.edits} edits and ${totals.files} files acknowledged, ` +
          `${totals.lost} lost or torn; ${totals.read} answers of reads; ` +
          `${totals.temp} temp files and ${totals.torn} half written files were there before the next start`
      )
    }
    t.equal(totals.lost, 0)
    t.ok(totals.edits >= KILLS && totals.files >= KILLS && totals.read >= KILLS, 'each was under load')
    return '0 torn files, 0 acknowledged edits or files lost, no temp file after the next start'
  }
)

checkDocument()
