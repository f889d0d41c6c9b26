// Verdicts, and the baseline that /history tells from them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeOperations } from '../../src/operations.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { verdictsOf } from '../../src/recording/verdicts.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { breakFolder } from '../log/support/history.ts'
import { append, makeFolders, open, REAL, removeFolders } from '../folder/support/open.ts'

const PATHS = ['a.txt', 'b.txt']
const REVIEW = { verdict: 'kept', of: [{ edit_id: 'e', stood: true }] } as const

t.test('takes only verdicts that took effect', async t => {
  const stored = (record: object, settled: 'done' | 'void') => ({ record, settled }) as never
  t.strictSame(
    verdictsOf([stored({}, 'done'), stored({ review: REVIEW }, 'void'), stored({ review: REVIEW }, 'done')]),
    [REVIEW]
  )
})

t.test('gives no verdict where the history can’t be written, or the key is lost', async t => {
  const folders = makeFolders()
  const events: string[] = []
  writeFileSync(join(folders.root, 'a.txt'), '')
  const first = await open(folders, { history: 'full' })
  await first.edit({ path: 'a.txt' }, REAL, append('one\n'))
  await first.close()
  const workspace = await open(folders, { history: 'full', report: ({ event }) => events.push(event) })
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  const page = async () => {
    const found = await workspace.history({ limit: 10 })
    return found.ok ? found.value.edits : []
  }
  const [edit] = await page()
  const path = Buffer.from('a.txt')
  const target = { verdict: 'kept' as const, files: [{ path, of: [{ edit_id: edit!.record.edit_id, stood: true }] }] }
  const mend = breakFolder(join(folders.state, 'history'))
  t.match(await workspace.review(target), { failure: { code: 'NOT_READY', reason: 'history_unwritable' } })
  mend()
  t.ok(events.includes('review_unrecorded'))
  t.match(await page(), [{ review: 'pending' }])
  const key = { digest: 'd', fingerprint: 'f', held: () => false }
  t.match(await workspace.review({ ...target, key }), { failure: { code: 'REQUEST_IN_FLIGHT' } })
  t.match(await page(), [{ review: 'pending' }])
  t.match(await workspace.review(target), { ok: true })
  t.match(await page(), [{ review: 'kept' }])
})

t.test('finds changes pending again whose verdict was removed before them', async t => {
  const folders = makeFolders()
  writeFileSync(join(folders.root, 'a.txt'), '')
  const [one, two] = [await open(folders, { history: 'full' }), await open(folders, { history: 'full' })]
  t.teardown(async () => {
    await one.close()
    removeFolders(folders)
  })
  const edited = await one.edit({ path: 'a.txt' }, REAL, append('one\n'))
  if (!edited.ok) throw new Error(edited.failure.code)
  const of = [{ edit_id: edited.value.edit_id!, stood: true }]
  await two.history({ limit: 1 })
  t.match(await two.review({ verdict: 'kept', files: [{ path: Buffer.from('a.txt'), of }] }), { ok: true })
  await two.close()
  t.match(await one.history({ limit: 10 }), { value: { edits: [{ review: 'kept' }] } })
  const history = join(folders.state, 'history')
  for (const name of readdirSync(history).filter(name => name.endsWith('.ndjson'))) {
    if (readFileSync(join(history, name), 'utf8').includes('"review"')) rmSync(join(history, name))
  }
  t.match(await one.history({ limit: 10 }), { value: { edits: [{ review: 'pending' }] } })
})

t.test('knows at once what was undone through another server, also of several files', async t => {
  const folders = makeFolders()
  for (const path of PATHS) writeFileSync(join(folders.root, path), 'a\n')
  const workspaces = [await open(folders, { history: 'full' }), await open(folders, { history: 'full' })]
  t.teardown(async () => {
    for (const workspace of workspaces) await workspace.close()
    removeFolders(folders)
  })
  const [here, there] = workspaces.map(workspace => makeOperations(workspace, { max_edits: 1, max_file_size: 1e6 }))
  const edit_ids: string[] = []
  for (const path of PATHS) {
    const edited = await here!.edit.call({ path, old_text: 'a', new_text: 'b' })
    if (edited.ok && edited.value.operation === 'edit') edit_ids.push(edited.value.outcome.edit_id!)
  }
  const stateHere = async () => {
    const found = await workspaces[0]!.history({ edit_ids, limit: 10 })
    return found.ok ? found.value.edits.map(({ state }) => state) : []
  }
  for (let round = 0; round < 5; round++) {
    for (const [name, state] of [
      ['undo', 'undone'],
      ['redo', 'applied']
    ] as const) {
      t.match(await there![name].call({ edit_ids }), { ok: true })
      t.strictSame(await stateHere(), [state, state], `${name}, round ${round}`)
    }
  }
})

/** What is known of one edit: how many changes it has, which stand and which were kept. */
interface Known {
  edit_id: string
  path: string
  session: string
  stands: Set<number>
  kept: Set<number>
}

const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'iota', 'kappa', 'mu', 'nu']

t.test('tells the same baseline as a list of single changes, whichever server is asked', async t => {
  for (let round = 0; round < often(60, 6); round++) {
    const random = new Random(SEED * 104_729 + round)
    const folders = makeFolders()
    // Each change is of a line of its own, so that none is in the way of another.
    for (const path of PATHS) writeFileSync(join(folders.root, path), WORDS.map(word => `${word} 0\n`).join(''))
    const workspaces = [await open(folders, { history: 'full' }), await open(folders, { history: 'full' })]
    const tables = workspaces.map(workspace => makeOperations(workspace, { max_edits: 100, max_file_size: 1e6 }))
    const call = async (name: 'edit' | 'undo' | 'redo' | 'review' | 'history', request: object, session = 's') => {
      const { [name]: operation } = random.pick(tables)
      const called = await (operation as Operation<object>).call(request, { caller: { agent: 'a', session } })
      return called.ok ? (called.value.outcome as unknown as Record<string, unknown>) : called.failure.code
    }
    const known: Known[] = []
    const free = new Set(PATHS.flatMap(path => WORDS.map(word => `${path} ${word}`)))
    const select = () => {
      const some = known.filter(() => random.chance(50))
      if (some.length === 0) return null
      return some.map(edit => {
        const all = [...Array(edit.stands.size).keys()]
        return { edit, all }
      })
    }
    const counts = new Map<string, number>()
    for (let step = 0; step < 14; step++) {
      const kind = random.int(10)
      if (kind < 4 && free.size > 0) {
        const path = random.pick(PATHS)
        const words = WORDS.filter(word => free.has(`${path} ${word}`) && random.chance(40))
        if (words.length === 0) continue
        const session = random.pick(['s1', 's2'])
        const edits = words.map(word => ({ old_text: `${word} 0`, new_text: `${word} 1` }))
        const done = await call('edit', { path, edits }, session)
        for (const word of words) free.delete(`${path} ${word}`)
        const edit_id = String((done as { edit_id?: string }).edit_id)
        counts.set(edit_id, words.length)
        known.push({ edit_id, path, session, stands: new Set(words.keys()), kept: new Set() })
        continue
      }
      const chosen = select()
      if (chosen === null) continue
      const changes = chosen.map(({ edit: { edit_id } }) => {
        const part = [...Array(counts.get(edit_id)!).keys()].filter(() => random.chance(60))
        return { edit_id, ...(part.length > 0 && { change_indexes: part }) }
      })
      const each = changes.flatMap(({ edit_id, change_indexes }) => {
        const edit = known.find(one => one.edit_id === edit_id)!
        return (change_indexes ?? [...Array(counts.get(edit_id)!).keys()]).map(index => ({ edit, index }))
      })
      if (kind < 7) {
        const name = random.pick(['undo', 'redo'] as const)
        const done = await call(name, { changes })
        if (typeof done === 'string') t.equal(done, 'NOTHING_TO_UNDO', `round ${round}`)
        for (const { edit, index } of each) edit.stands[name === 'undo' ? 'delete' : 'add'](index)
        continue
      }
      const verdict = random.pick(['keep', 'keep', 'pending'])
      const { path, session } = random.pick(known)
      const [what, meant] = random.pick([
        [{ changes }, each],
        ...([{ path }, { session }, { under: '.' }] as const).map(query => {
          const of = known.filter(edit =>
            Object.entries(query).every(([name, value]) => name === 'under' || edit[name as 'path'] === value)
          )
          return [
            query,
            of.flatMap(edit => [...Array(counts.get(edit.edit_id)!).keys()].map(index => ({ edit, index })))
          ] as const
        })
      ] as (readonly [object, readonly { edit: Known; index: number }[]])[])
      const isKept = ({ edit, index }: { edit: Known; index: number }) => verdict === 'keep' && edit.stands.has(index)
      const changed = new Set(
        meant.filter(one => one.edit.kept.has(one.index) !== isKept(one)).map(({ edit }) => edit.edit_id)
      )
      const said = await call('review', { verdict, ...what })
      t.strictSame((said as { edit_ids?: string[] }).edit_ids, [...changed].sort().reverse(), `round ${round}`)
      for (const one of meant) one.edit.kept[isKept(one) ? 'add' : 'delete'](one.index)
    }
    for (const workspace of workspaces) {
      const found = await workspace.history({ limit: 200 })
      const edits = found.ok ? found.value.edits.filter(({ record }) => record.operation === 'edit') : []
      const told = edits.map(({ record, review, units }) => ({
        edit_id: record.edit_id,
        review,
        kept: [...Array(units!.count).keys()].filter(index => units!.kept.has(index)),
        undone: [...Array(units!.count).keys()].filter(index => units!.undone.has(index))
      }))
      const expected = known.toReversed().map(({ edit_id, stands, kept }) => {
        const all = [...Array(counts.get(edit_id)!).keys()]
        const isPending = all.some(index => stands.has(index) !== kept.has(index))
        return {
          edit_id,
          review: isPending ? 'pending' : stands.size > 0 ? 'kept' : undefined,
          kept: all.filter(index => kept.has(index)),
          undone: all.filter(index => !stands.has(index))
        }
      })
      t.strictSame(told, expected, `round ${round}, seed ${SEED}`)
    }
    for (const workspace of workspaces) await workspace.close()
    removeFolders(folders)
  }
})
