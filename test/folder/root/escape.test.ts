// Another process swaps folders and files for links to the outside while we work. Rows 6 and 7 of docs/threats.md.
// EDITD_ATTEMPTS: how often it is tried; many take tap --timeout=0.
import { spawn, type ChildProcess } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { often } from '../../often.ts'
import { append, become, descriptors, DRY, makeFolders, look, open, REAL, removeFolders } from '../support/open.ts'
import { ok } from '../../../src/result.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { build } from '../support/native.ts'

const attacker = build('attacker')
const needsAttacker = { skip: attacker === null ? 'needs Linux and a C compiler' : false }
const ATTEMPTS = Number(process.env['EDITD_ATTEMPTS'] ?? often(3000, 3000, 800))
const SECRET = 'secret'
if (ATTEMPTS > 3000) t.setTimeout(0)
const unchanged = (original: Buffer) => ok({ pieces: [original], description: String(original) })

/** Swaps two names until it is stopped; then tells how often it did. */
function attack(
  program: string,
  one: string,
  other: string,
  rest: number
): { child: ChildProcess; stop: () => Promise<number> } {
  const child = spawn(program, [one, other, String(rest)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', chunk => {
    printed += chunk
  })
  const ended = new Promise<void>(resolve => child.on('close', () => resolve()))
  return {
    child,
    async stop() {
      child.kill('SIGTERM')
      await ended
      return Number(printed)
    }
  }
}

t.test(
  'reads and writes nothing outside the root, whatever is swapped meanwhile',
  { ...needsAttacker, timeout: 0 },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const { root, base } = folders
    mkdirSync(join(base, 'outside'))
    for (const name of ['f', 'leaf', 'new']) writeFileSync(join(base, 'outside', name), SECRET)
    mkdirSync(join(root, 'd'))
    mkdirSync(join(root, 'd/sub'))
    writeFileSync(join(root, 'd/f'), 'inside')
    writeFileSync(join(root, 'leaf'), 'inside')
    symlinkSync('../outside', join(root, 'd-link'))
    symlinkSync('../outside/leaf', join(root, 'leaf-link'))
    const workspace = await open(folders, { lock: 'local', confinement: 'proc' })
    t.teardown(() => workspace.close())

    const ways: [
      name: string,
      work: (i: number) => Promise<{ ok: boolean; value?: unknown; failure?: { code: string } }>
    ][] = [
      ['read', () => look(workspace, { path: 'd/f' })],
      ['read leaf', () => look(workspace, { path: 'leaf' })],
      ['list', () => look(workspace, { path: 'd' }, { limit: 5, after: 'e' })],
      ['plan', () => workspace.edit({ path: 'd/f' }, DRY, unchanged)],
      ['edit', () => workspace.edit({ path: 'd/f' }, REAL, become(`inside${Math.random()}`))],
      ['edit leaf', () => workspace.edit({ path: 'leaf' }, REAL, append('.'))],
      [
        'create',
        i => workspace.create({ path: `d/new${i}`, overwrite: false, create_parents: false }, REAL, become('mine'))
      ],
      [
        'create folders',
        i =>
          workspace.create(
            { path: `d/made${i}/deep/new`, overwrite: false, create_parents: true },
            REAL,
            become('mine')
          )
      ]
    ]
    const count = { done: new Map<string, number>(), refused: new Map<string, number>() }
    const before = descriptors()
    const attacks = [
      attack(attacker ?? '', join(root, 'd'), join(root, 'd-link'), 100_000),
      attack(attacker ?? '', join(root, 'leaf'), join(root, 'leaf-link'), 100_000)
    ]
    let escaped = 0
    let next = 0
    const isMixed = (name: string): boolean => (count.done.get(name) ?? 0) > 0 && (count.refused.get(name) ?? 0) > 0
    // A busy machine may let the attacker sleep through all attempts at one way.
    const goesOn = (): boolean => next < ATTEMPTS || (next < 30 * ATTEMPTS && !ways.every(([name]) => isMixed(name)))
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (goesOn()) {
          const i = next++
          const [name, work] = ways[i % ways.length] ?? ways[0]!
          const answer = await work(i)
          const into = answer.ok ? count.done : count.refused
          into.set(name, (into.get(name) ?? 0) + 1)
          const text = JSON.stringify(answer, (_, value: unknown) =>
            typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value
              ? String(Buffer.from(value.data as number[]))
              : value
          )
          if (text.includes(SECRET) || (answer.ok && name === 'list' && text.includes('"leaf"'))) escaped++
          if (
            !answer.ok &&
            !['PATH_NOT_ALLOWED', 'STALE_FILE', 'FILE_NOT_FOUND', 'NOT_A_FILE', 'ALREADY_EXISTS'].includes(
              answer.failure?.code ?? ''
            )
          ) {
            t.fail(text)
          }
        }
      })
    )
    const swaps = await Promise.all(attacks.map(({ stop }) => stop()))
    await new Promise(resolve => setTimeout(resolve, 100))

    t.comment(
      `${swaps.join(' and ')} swaps; done ${JSON.stringify([...count.done])}; ` +
        `refused ${JSON.stringify([...count.refused])}`
    )
    t.ok(swaps.every(number => number > 100))
    for (const [name] of ways) t.ok(isMixed(name), `${name}: some of both`)
    t.equal(escaped, 0, 'tells nothing of the outside')
    t.strictSame(readdirSync(join(base, 'outside')).sort(), ['f', 'leaf', 'new'], 'makes nothing there')
    for (const name of ['f', 'leaf', 'new']) {
      t.equal(readFileSync(join(base, 'outside', name), 'utf8'), SECRET, 'changes nothing there')
    }
    t.strictSame(
      readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => name.includes('.tmp')),
      [],
      'leaves no temp file'
    )
    t.ok(descriptors() <= before + 2, 'leaks no descriptor')
  }
)

t.test('gives up on a path that never stops changing', needsAttacker, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const folder of ['d', 'e']) {
    mkdirSync(join(folders.root, folder))
    writeFileSync(join(folders.root, folder, 'f'), folder)
  }
  const root = openRoot(folders.root, 'portable')
  t.teardown(() => root.close())
  const before = descriptors()
  const { stop } = attack(attacker ?? '', join(folders.root, 'd'), join(folders.root, 'e'), 0)
  const seen = new Set<string>()
  for (
    const end = performance.now() + 60_000;
    performance.now() < end && !(seen.has('STALE_FILE') && seen.has('ok'));
  ) {
    const pinned = root.pin(Buffer.from('d/f'))
    seen.add(pinned.ok ? 'ok' : pinned.failure.code)
    if (pinned.ok) pinned.value.close()
  }
  await stop()
  t.ok(seen.has('STALE_FILE') && seen.has('ok'))
  t.ok(descriptors() <= before + 2)
})

t.test(
  'gives up on a name that leads to a deleted file',
  { skip: process.platform === 'linux' ? false : 'needs /proc' },
  t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const file = join(folders.root, 'f')
    writeFileSync(file, 'text')
    const fd = openSync(file, 'r')
    t.teardown(() => closeSync(fd))
    symlinkSync(`/proc/${process.pid}/fd/${fd}`, join(folders.root, 'link'))
    unlinkSync(file)
    const root = openRoot(folders.root, 'proc')
    t.teardown(() => root.close())
    const before = descriptors()
    t.match(root.pin(Buffer.from('link')), { ok: false, failure: { code: 'STALE_FILE' } })
    t.equal(descriptors(), before)
    t.end()
  }
)
