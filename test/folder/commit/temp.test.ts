// Temp files of large contents that replace a file without a sync: neither of their two names is ever left behind.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ok } from '../../../src/result.ts'
import { Intents, tempPathsOf } from '../../../src/folder/commit/intents.ts'
import { withTemp, type TempOptions } from '../../../src/folder/commit/temp.ts'
import { thisOwner } from '../../../src/folder/locks/owner.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { openState } from '../../../src/folder/state.ts'
import { often, ONLY_CI } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { makeFolders, open, ownLock, removeFolders, unrecorded } from '../support/open.ts'
import { startWorker } from '../support/process.ts'

const LARGE = Buffer.alloc(1_500_000, 'new\n')

/** What makes a temp file for `file` in a root of its own. `recorded`: the names that a sweep would look for. */
function placeOf(t: Test) {
  const folders = makeFolders()
  const root = openRoot(folders.root)
  const folder = root.openFolder(Buffer.alloc(0))
  const state = openState(folders.state)
  const owner = thisOwner()
  const intents = new Intents(state.intents, owner)
  t.teardown(() => {
    intents.close()
    folder.close()
    root.close()
    removeFolders(folders)
  })
  writeFileSync(join(folders.root, 'file'), 'old')
  const name = ownLock().temp
  const options: TempOptions = {
    name,
    intents,
    durability: 'fast',
    folder,
    folderPath: Buffer.alloc(0),
    mode: 0o640,
    replaces: true,
    content: { pieces: [LARGE], size: LARGE.length },
    ready: unrecorded
  }
  const recorded = (): string[] => tempPathsOf(state.intents, owner.nonce).map(String)
  return { root: folders.root, options, name, recorded }
}

t.test('gives a large file its temp name when it is whole, and leaves nothing else', { skip: ONLY_CI }, async t => {
  const { root, options, name, recorded } = placeOf(t)
  const seen: string[][] = []
  const ready = async (): Promise<void> => {
    seen.push(readdirSync(root).filter(entry => entry !== 'file'))
  }
  const put = await withTemp({ ...options, ready }, temp => {
    t.strictSame(readdirSync(root).sort(), ['file', name].sort())
    t.ok(readFileSync(temp).equals(LARGE))
    t.equal(statSync(temp).mode & 0o777, 0o640)
    renameSync(temp, join(root, 'file'))
    return ok('moved')
  })
  t.strictSame(put, ok('moved'))
  t.strictSame(readdirSync(root), ['file'])
  const [[aside = '', ...more] = []] = seen
  t.strictSame(more, [])
  t.not(aside, name, 'until then it has another one')
  t.strictSame(recorded().sort(), [aside, name].sort(), 'and a sweep knows both')
})

const SMALL = { pieces: [Buffer.from('new')], size: 3 }

for (const [durability, isAlone] of [
  ['fast', true],
  ['fast', false],
  ['full', true]
] as const) {
  const isEarly = durability === 'fast' && isAlone
  const when = isEarly ? 'while a small file is made' : 'after the file is written'
  const beside = isAlone ? '' : ', and another is made at this time'
  t.test(`does what has to be done before ${when}, with ${durability}${beside}`, { skip: ONLY_CI }, async t => {
    const { root, options, name } = placeOf(t)
    if (!isAlone) options.intents.begin(Buffer.from('other'))
    let asked = false
    const ready = async (): Promise<void> => {
      asked = true
      if (!isEarly) t.equal(readFileSync(join(root, name), 'utf8'), 'new')
    }
    const putting = withTemp({ ...options, durability, content: SMALL, ready }, () => ok('moved'))
    t.equal(asked, isEarly)
    t.strictSame(await putting, ok('moved'))
    t.ok(asked)
  })
}

t.test('makes a small file without anything that has to be done before', { skip: ONLY_CI }, async t => {
  const { root, options, name } = placeOf(t)
  const { ready: _, ...rest } = options
  t.strictSame(await withTemp({ ...rest, content: SMALL }, () => ok('moved')), ok('moved'))
  t.equal(readFileSync(join(root, name), 'utf8'), 'new')
})

for (const fails of [false, true]) {
  t.test(
    `waits for what has to be done before where a small file can't be made${fails ? ', and it fails' : ''}`,
    async t => {
      const { root, options, name } = placeOf(t)
      mkdirSync(join(root, name))
      let done = false
      const ready = async (): Promise<void> => {
        await sleep(20)
        done = true
        if (fails) throw Object.assign(new Error('not recorded'), { code: 'EIO' })
      }
      await t.rejects(
        withTemp({ ...options, content: SMALL, ready }, () => ok('moved')),
        { code: 'EEXIST' }
      )
      t.ok(done)
    }
  )
}

t.test('leaves nothing of a small file where what has to be done before fails at once', { skip: ONLY_CI }, async t => {
  const { root, options } = placeOf(t)
  const ready = () => Promise.reject(Object.assign(new Error('not recorded'), { code: 'EIO' }))
  await t.rejects(
    withTemp({ ...options, content: SMALL, ready }, () => ok('moved')),
    { code: 'EIO' }
  )
  t.strictSame(readdirSync(root), ['file'])
})

const FAILING = {
  'what has to be done before fails': {
    code: 'EIO',
    ready: () => Promise.reject(Object.assign(new Error('not recorded'), { code: 'EIO' }))
  },
  'something has its name': { code: 'EEXIST', ready: unrecorded }
}
for (const [what, { code, ready }] of Object.entries(FAILING)) {
  t.test(`leaves nothing of a large file where ${what}`, { skip: ONLY_CI }, async t => {
    const { root, options, name } = placeOf(t)
    if (code === 'EEXIST') mkdirSync(join(root, name))
    await t.rejects(
      withTemp({ ...options, ready }, () => ok('moved')),
      { code }
    )
    if (code === 'EEXIST') rmdirSync(join(root, name))
    t.strictSame(readdirSync(root), ['file'])
    t.equal(readFileSync(join(root, 'file'), 'utf8'), 'old')
  })
}

t.test(
  'leaves a large file old or new, and no temp file, wherever its server is killed',
  { skip: ONLY_CI },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const random = new Random(SEED)
    const file = join(folders.root, 'file')
    writeFileSync(file, LARGE)
    let lines = 0
    for (let kill = 0; kill < often(40, 8); kill++) {
      const worker = startWorker({ ...folders, file: 'file', count: 1000, name: `k${kill}.`, durability: 'fast' })
      await worker.printed('done')
      await sleep(random.int(60))
      worker.child.kill('SIGKILL')
      await worker.ended
      const next = await open(folders)
      await next.close()
      t.strictSame(readdirSync(folders.root), ['file'])
      const text = readFileSync(file)
      t.ok(text.subarray(0, LARGE.length).equals(LARGE), 'the text that was there')
      const added = text.subarray(LARGE.length).toString()
      t.match(added, /^(k\d+\.\d+\n)+$/, 'and whole lines')
      const count = added.split('\n').length - 1
      t.ok(count > lines, 'with those that were acknowledged')
      lines = count
    }
  }
)
