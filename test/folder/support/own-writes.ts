// The law: servers on one root or bucket report an edit right after it was answered. Does not know where files are
// kept.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { Random, SEED } from '../../random.ts'
import type { Workspace } from '../../../src/workspace/api.ts'
import { append, REAL } from './open.ts'

/** Empty files that the servers must have. */
export const FILES = ['a.txt', 'b.txt']

/** The changes after a cursor, without waiting, and the next cursor. */
async function now(workspace: Workspace, after?: string): Promise<{ ids: string[]; next: string }> {
  const page = await workspace.changes({ limit: 1000, wait_ms: 0, ...(after !== undefined && { after }) })
  if (!page.ok) throw new Error(page.failure.code)
  return { ids: page.value.events.map(({ facts }) => facts.edit_id), next: page.value.next_after }
}

/**
 * The servers make edits. As soon as an edit is answered, each server reports and lists it, once, and the edits of a
 * file in order.
 */
export async function tellsOwnWrites(t: Test, servers: readonly Workspace[], rounds: number): Promise<void> {
  const random = new Random(SEED)
  let after = (await now(servers[0]!)).next
  const start = after
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
}
