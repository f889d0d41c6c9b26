// Changes whose answer got lost, in a bucket of a real Ceph: what the server finds out about them, and when it writes
// the audit line.
// runs in .ci/run
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { AuditFile } from '../../src/audit/audit-file.ts'
import { Audit } from '../../src/audit/audit.ts'
import { Settler, type PresentFile } from '../../src/bucket/log/settle.ts'
import { UnknownChanges } from '../../src/bucket/unknown.ts'
import { StoreUnavailable } from '../../src/object-store/store.ts'
import { NO_CEPH } from '../ceph.ts'
import { FAST, hashOf, recordOf } from '../log/support/history.ts'
import { makeBucketPlace } from './log/support/place.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }

function openAudit(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'editd-unknown-'))
  const path = join(folder, 'audit.jsonl')
  const file = new AuditFile(path, () => {})
  t.teardown(async () => {
    await file.close()
    rmSync(folder, { recursive: true })
  })
  const outcomes = async (): Promise<string[]> => {
    await file.commit('{"path":"","outcome":""}', false)
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    const told = lines.map(line => JSON.parse(line) as { path: string; outcome: string })
    return told.flatMap(({ path, outcome }) => (path === '' ? [] : [`${path} ${outcome}`])).sort()
  }
  return { audit: new Audit({ file, required: false, durable: false }), outcomes }
}

t.test('finds out what became of changes, with a record and without', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const [history, other] = [await place.open(), await place.open()]
  const { audit, outcomes } = openAudit(t)
  const files: Record<string, PresentFile> = {}
  let isOver = false
  let isGone = false
  let answers = true
  const options = {
    present: async (path: Buffer) => {
      if (isGone) throw new StoreUnavailable('no answer')
      return files[path.toString()] ?? { hash: null, attempts: [] }
    },
    underWay: () => (isOver ? 0 : 60_000),
    report: (event: { event: string }) => place.events.push(event)
  }
  const settler = new Settler({ history, ...options })
  const unknown = new UnknownChanges({ settling: { history, settler }, answers: () => answers, ...options })
  const off = new UnknownChanges({ settling: null, answers: () => answers, ...options })
  const call = audit.call()
  for (const name of ['made', 'lost', 'gone', 'said', 'swept']) {
    const record = recordOf(history, name, name)
    if (name !== 'swept') await history.append(record, FAST)
    const path = Buffer.from(name)
    const { edit_id: attempt, hash_before, size_after } = record
    const change = { path, attempt, hash_before, hash_after: hashOf(name), size_after }
    unknown.add({ ...change, isRecorded: true, audited: call.change(path, hash_before) })
    if (name === 'said') {
      // Another server has found it out.
      await other.refresh()
      other.settle(attempt, 'void')
      await other.flush()
    } else {
      const offPath = Buffer.from(`${name} off`)
      const audited = call.change(offPath, hash_before)
      off.add({ ...change, path: offPath, isRecorded: false, audited })
    }
    const hash = name === 'made' ? hashOf('later') : name === 'gone' ? hashOf('of another program') : hash_before
    for (const key of [name, `${name} off`]) files[key] = { hash, attempts: name === 'made' ? [attempt] : [] }
  }
  const all = ['gone', 'gone off', 'lost', 'lost off', 'made', 'made off', 'said', 'swept', 'swept off']
  const uncertain = all.map(name => `${name} uncertain`).sort()
  t.strictSame(await outcomes(), uncertain)
  answers = false
  await Promise.all([unknown.close(), off.close()])
  t.strictSame(await outcomes(), uncertain, 'nothing is asked of a store that does not answer')
  answers = true
  isGone = true
  await Promise.all([unknown.close(), off.close()])
  t.ok(place.events.splice(0).length > 0)
  isGone = false
  await Promise.all([unknown.close(), off.close()])
  const known = [...uncertain, 'made done', 'made off done', 'said void'].sort()
  t.strictSame(await outcomes(), known, 'others may be under way')
  isOver = true
  await Promise.all([unknown.close(), off.close()])
  const end = [...known, 'lost void', 'lost off void', 'swept void', 'swept off void'].sort()
  t.strictSame(await outcomes(), end, 'what nobody can tell stays uncertain')
  await Promise.all([unknown.close(), off.close()])
  t.strictSame(await outcomes(), end, 'each is told once')
  t.strictSame(place.events, [])
})
