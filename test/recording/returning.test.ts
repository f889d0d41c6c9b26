// A server whose record was removed, as it was silent for too long, comes back: others know what it does then. Does not
// know how a history is kept.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Workspace } from '../../src/workspace/api.ts'
import { append, makeFolders, open, REAL, removeFolders } from '../folder/support/open.ts'

interface Fixture {
  silent: Workspace
  /** It has taken the silent one for gone. */
  other: Workspace
  /** The cursor of the other, since then. */
  after: string
  /** How many records of servers there are. */
  servers(): number
}

/** Two servers on one root; one of them has appended "one" to a.txt before the other came. */
async function fresh(t: Test): Promise<Fixture> {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a.txt'), '')
  const opened = async () => {
    const workspace = await open(folders, { history: 'full' })
    t.teardown(() => workspace.close())
    return workspace
  }
  const silent = await opened()
  t.ok((await silent.edit({ path: 'a.txt' }, REAL, append('one\n'))).ok)
  // Nothing waits to be written any more.
  const segment = () => readdirSync(join(folders.state, 'history')).find(name => name.endsWith('.ndjson')) ?? ''
  for (let i = 0; !/settles/.test(readFileSync(join(folders.state, 'history', segment()), 'utf8')); i++) {
    if (i > 500) throw new Error('waited in vain')
    await sleep(10)
  }
  const intents = join(folders.state, 'intents')
  for (const name of readdirSync(intents)) rmSync(join(intents, name))
  // It was silent for ten seconds: so long after its last look, it looks again before its next edit.
  await sleep(120)
  const other = await opened()
  const follower = await other.follow()
  if (!follower.ok) throw new Error(follower.failure.code)
  const after = follower.value.after.toString()
  follower.value.end()
  return { silent, other, after, servers: () => readdirSync(intents).length }
}

/** What the other server lists, oldest first, and what it tells since the silent one was taken for gone. */
async function known({ other, after }: Fixture): Promise<{ listed: string[]; told: string[] }> {
  const page = await other.history({ limit: 9 })
  const told = await other.changes({ after, limit: 9, wait_ms: 5000 })
  if (!page.ok || !told.ok) throw new Error('no history')
  return {
    listed: page.value.edits.map(({ record }) => record.edit_id).reverse(),
    told: told.value.events.map(({ facts }) => facts.operation)
  }
}

async function editBy(workspace: Workspace, text: string): Promise<string> {
  const done = await workspace.edit({ path: 'a.txt' }, REAL, append(text))
  if (!done.ok || done.value.edit_id === undefined) throw new Error('not recorded')
  return done.value.edit_id
}

t.test('an edit', async t => {
  const fixture = await fresh(t)
  const { silent, other, servers } = fixture
  t.equal(servers(), 1)
  const edit = await editBy(silent, 'two\n')
  t.equal(servers(), 2)
  const { listed, told } = await known(fixture)
  t.strictSame([listed.length, listed[1], told], [2, edit, ['edit']])
  const last = await editBy(other, 'three\n')
  t.strictSame((await known(fixture)).listed, [...listed, last], 'and it isn’t taken for one by another program')
})

t.test('a verdict, for which no lock is taken', async t => {
  const fixture = await fresh(t)
  const { silent, other, servers } = fixture
  const page = await other.history({ limit: 1 })
  const of = [{ edit_id: page.ok ? page.value.edits[0]!.record.edit_id : '', stood: true }]
  t.ok((await silent.review({ verdict: 'kept', files: [{ path: Buffer.from('a.txt'), of }] })).ok)
  t.equal(servers(), 2, 'others see that it is there')
  t.strictSame((await known(fixture)).told, ['review'])
  const edit = await editBy(silent, 'two\n')
  t.equal((await known(fixture)).listed.at(-1), edit)
})
