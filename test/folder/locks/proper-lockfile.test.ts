// Why LockFiles gives proper-lockfile a mkdir and an rmdir of its own (docs/decisions/lock.md): with those of the file
// system, two processes get a lock that fell silent. If this fails with a newer version, the decision can be looked at
// again.
import { existsSync, mkdir, mkdirSync, rmdir, rmdirSync, stat, statSync, utimes, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'
import t from 'tap'
import { testFolder } from '../../folder.ts'

t.test('lets a second taker remove the lock of the first, by proper-lockfile alone', async t => {
  const folder = testFolder(t)
  const path = join(folder, 'lock')
  mkdirSync(path)
  const silent = new Date(Date.now() - 20_000)
  utimesSync(path, silent, silent)
  const lost: string[] = []
  // Of two names, as two processes don't know each other's locks.
  const take = (name: string, fs: object): Promise<() => Promise<void>> =>
    lock(join(folder, name), { lockfilePath: path, realpath: false, fs, onCompromised: () => lost.push(name) })
  const real = { mkdir, rmdir, rmdirSync, stat, utimes }
  let first: (() => Promise<void>) | undefined
  const second = await take('second', {
    ...real,
    // What the second one knows of the lock is from before the first takes it over.
    stat: (at: string, done: (error: unknown, found?: object) => void): void => {
      const seen = statSync(at)
      if (first !== undefined) return done(null, seen)
      take('first', real).then(release => {
        first = release
        done(null, seen)
      }, done)
    }
  })
  t.type(first, 'function', 'both hold it')
  t.strictSame(lost, [], 'and neither knows')
  await first?.()
  t.notOk(existsSync(path), 'what the first releases is what the second made')
  await second()
})
