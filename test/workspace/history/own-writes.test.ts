// What /changes and /history tell right after an edit was answered, at the server that made it and at the others. Does not
// know HTTP.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import { append, makeFolders, open, REAL, removeFolders } from '../support/open.ts'

const FILES = ['a.txt', 'b.txt']

/** What is told after a cursor, without waiting, and the next cursor. */
async function now(workspace: Workspace, after?: string): Promise<{ ids: string[]; next: string }> {
  const page = await workspace.changes({ limit: 1000, wait_ms: 0, ...(after !== undefined && { after }) })
  if (!page.ok) throw new Error(page.failure.code)
  return { ids: page.value.told.map(({ facts }) => facts.edit_id), next: page.value.next_after }
}

for (const [what, options] of [
  ['one server', [{}]],
  ['two processes of a group', [{ group: 'g' }, { group: 'g' }]],
  ['three servers', [{}, {}, {}]]
] as const) {
  t.test(`law: an edit is told as soon as it is answered, in order, with ${what}`, async t => {
    const random = new Random(SEED)
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    for (const name of FILES) writeFileSync(join(folders.root, name), '')
    const servers: Workspace[] = []
    for (const one of options) {
      const workspace = await open(folders, { history: 'full', ...one })
      servers.push(workspace)
      t.teardown(() => workspace.close())
    }
    let after = (await now(servers[0]!)).next
    const start = after
    const rounds = often(200, 40)
    const made: Record<string, string[]> = { 'a.txt': [], 'b.txt': [] }
    const edit = async (path: string): Promise<string> => {
      const done = await random.pick(servers).edit({ path }, REAL, append('x\n'))
      if (!done.ok || done.value.edit_id === undefined) throw new Error('not recorded')
      made[path]!.push(done.value.edit_id)
      return done.value.edit_id
    }
    for (let i = 0; i < rounds; i++) {
      // Edits of both files at the same time, by any server.
      const edits = await Promise.all(random.chance(50) ? FILES.map(edit) : [edit(random.pick(FILES))])
      if (random.chance(20)) await sleep(random.int(60))
      const [reader, lister] = [random.pick(servers), random.pick(servers)]
      if (random.chance(50)) {
        const { ids, next } = await now(reader, after)
        t.strictSame(ids.toSorted(), edits.toSorted(), `round ${i}, seed ${SEED}`)
        after = next
      } else {
        after = (await now(reader)).next
        t.strictSame((await now(lister, after)).ids, [], `a cursor after it, round ${i}, seed ${SEED}`)
      }
      const listed = await lister.history({ limit: edits.length })
      const newest = listed.ok && listed.value.edits.map(({ record }) => record.edit_id)
      t.strictSame(newest && newest.toSorted(), edits.toSorted(), `listed, round ${i}, seed ${SEED}`)
    }
    for (const server of servers) {
      const { ids } = await now(server, start)
      t.strictSame(
        FILES.map(name => ids.filter(id => made[name]!.includes(id))),
        FILES.map(name => made[name])
      )
    }
  })
}
