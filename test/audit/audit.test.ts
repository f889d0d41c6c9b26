// What the audit has of changes whose server was killed. What it has of calls is in test/http/audit.test.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Audit, type KnownChange } from '../../src/audit/audit.ts'
import { AuditFile } from '../../src/audit/audit-file.ts'
import { testFolder } from '../folder.ts'

t.test('says what became of a change whose server was killed', async t => {
  const path = join(testFolder(t), 'audit.jsonl')
  const file = new AuditFile(path, event => t.fail(JSON.stringify(event)))
  const audit = new Audit({ file, workspace: 'acme', required: true, durable: false })
  const change: KnownChange = {
    edit_id: '01',
    batch_id: '00',
    token: 'ci',
    agent: 'bot',
    session: 's',
    path: Buffer.from('docs/\u202ea.txt'),
    hash_before: null,
    hash_after: 'b'.repeat(64),
    lines_added: 2,
    lines_removed: 0
  }
  for (const outcome of ['done', 'void', 'uncertain'] as const) audit.settled(change, outcome)
  await file.close()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  t.ok(lines.every(line => line.includes('docs/\\u202ea.txt')))
  const { token: subject, ...known } = change
  t.strictSame(
    lines.map(line => ({ ...JSON.parse(line), time: undefined })),
    ['done', 'void', 'uncertain'].map(outcome => ({
      ...known,
      path: 'docs/\u202ea.txt',
      subject,
      outcome,
      recovered: true,
      workspace: 'acme',
      time: undefined
    }))
  )
})
