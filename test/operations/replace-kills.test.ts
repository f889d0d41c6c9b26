// Servers that are killed at random moments while they replace a text in many files: after the recovery all files are
// old or all are new. `npm run test:replacements -- --kills N --files N` for more.
// runs in .ci/run
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { makeFolders, onLinux, open, removeFolders } from '../folder/support/open.ts'
import { startReplaceWorker } from '../folder/support/process.ts'

const KILLS = Number(process.env.LONG_KILLS ?? often(300, 12, 1))
const FILES = Number(process.env.LONG_FILES ?? 40)
t.setTimeout(0)

t.test(
  'has all files old or all new, and what was acknowledged, however often it is killed',
  { skip: ONLY_CI || (onLinux ? false : 'needs abstract sockets (Linux)') },
  async t => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const paths = Array.from({ length: FILES }, (_, i) => join(folders.root, `f${i}`))
    for (const path of paths) writeFileSync(path, 'before\nn0\nafter\n')
    let [from, open_] = [0, 0]
    for (let killed = 0; killed < KILLS; killed++) {
      const durability = random.chance(50) ? 'full' : 'fast'
      const { root, state } = folders
      const worker = startReplaceWorker({ root, state, durability, files: FILES, from })
      const enough = 1 + random.int(6)
      while (worker.lines.length <= enough && worker.child.exitCode === null) await sleep(1)
      await sleep(random.int(30))
      worker.child.kill('SIGKILL')
      await worker.ended
      t.equal(worker.lines[0], 'ready')
      t.notMatch(worker.lines.join('\n'), /failed/, `SEED=${SEED}`)
      const done = worker.lines.filter(line => line.startsWith('done')).length
      // Recovers.
      const workspace = await open(folders, { history: 'full' })
      await workspace.close()
      const found = new Set(paths.map(path => readFileSync(path, 'utf8')))
      const [text = ''] = found
      const now = Number(/^n(\d+)$/m.exec(text)?.[1])
      if (found.size !== 1 || now < from + done || now > from + done + 1) {
        t.fail(`mixed or lost after kill ${killed}: ${[...found].join('|')}, expected ${from + done} (SEED=${SEED})`)
        return
      }
      if (now > from + done) open_++
      from = now
    }
    t.comment(JSON.stringify({ kills: KILLS, replaced: from, completed: open_ }))
    t.ok(from > 0)
  }
)
