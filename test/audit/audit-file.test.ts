// The audit file: lines at its end, what is done while it can't be written, and which file it may be.
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { AuditFile } from '../../src/audit/audit-file.ts'
import { auditFaults } from '../../src/audit/place.ts'
import { testFolder } from '../folder.ts'
import { LARGEST } from './largest.ts'

const text = (path: string): string => readFileSync(path, 'utf8')

const hasLargest = (folder: string): boolean => {
  const path = join(folder, 'largest')
  writeFileSync(path, '')
  try {
    truncateSync(path, LARGEST)
    appendFileSync(path, 'x')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EFBIG' && statSync(path).size === LARGEST
  } finally {
    rmSync(path)
  }
}

function open(t: Test, path: string) {
  const events: Record<string, unknown>[] = []
  const file = new AuditFile(path, event => events.push(event))
  return { file, events }
}

t.test('makes a file for its user alone, and adds lines to one that is there', async t => {
  const path = join(testFolder(t), 'a.jsonl')
  const { file } = open(t, path)
  t.equal(statSync(path).mode & 0o777, 0o600)
  file.append('one')
  await Promise.all([file.commit('two', true), file.commit('three', false)])
  t.equal(text(path), 'one\ntwo\nthree\n')
  file.append('four')
  while (text(path) === 'one\ntwo\nthree\n') await sleep(5)
  t.equal(text(path), 'one\ntwo\nthree\nfour\n', 'nobody has to ask for it')
  file.append('six')
  file.put('five')
  t.equal(text(path), 'one\ntwo\nthree\nfour\nfive\n', 'at once')
  await file.close()
  t.equal(text(path), 'one\ntwo\nthree\nfour\nfive\nsix\n')
  // A power failure left this.
  appendFileSync(path, '{"half')
  const again = open(t, path)
  await again.file.commit('seven', true)
  await again.file.close()
  t.match(text(path), /six\n\{"half\nseven\n$/)
})

t.test('opens the file again: another one where it was renamed', async t => {
  const folder = testFolder(t)
  const path = join(folder, 'a.jsonl')
  const { file, events } = open(t, path)
  file.append('old')
  await file.commit('old too', false)
  renameSync(path, join(folder, 'kept'))
  file.append('between')
  file.reopen()
  await file.commit('new', false)
  t.equal(text(join(folder, 'kept')) + text(path), 'old\nold too\nbetween\nnew\n')
  renameSync(path, join(folder, 'kept too'))
  mkdirSync(path)
  file.reopen()
  await file.commit('still', false)
  t.match(text(join(folder, 'kept too')), /still\n$/, 'one that can not be opened changes nothing')
  t.strictSame(events.splice(0), [{ event: 'audit_opened' }, { event: 'audit_unopened', reason: 'EISDIR' }])
  rmSync(path, { recursive: true })
  execFileSync('mkfifo', [path])
  const reader = openSync(path, 'r+')
  file.reopen()
  await file.commit('still', false)
  closeSync(reader)
  t.strictSame(events, [{ event: 'audit_unopened', reason: 'not_a_file' }])
  await file.close()
})

t.test('says that it can not be written, keeps lines, and goes on when it can be', async t => {
  const folder = testFolder(t)
  if (!hasLargest(folder)) return t.comment('the file system has no such limit')
  const path = join(folder, 'a.jsonl')
  const { file, events } = open(t, path)
  const [line] = ['x'.repeat(99)]
  truncateSync(path, LARGEST - 150)
  file.append(line!)
  file.append(`${line}y`)
  const refused = file.commit('nobody changes anything', true)
  await t.rejects(refused, { code: 'AUDIT_UNWRITABLE', cause: { code: 'EFBIG' } })
  t.ok(file.failing)
  t.strictSame(events, [{ event: 'audit_unwritable', reason: 'EFBIG' }])
  await t.rejects(file.commit('nor now', false), { code: 'AUDIT_UNWRITABLE' })
  const torn = Buffer.alloc(150)
  const fd = openSync(path, 'r')
  readSync(fd, torn, 0, 150, LARGEST - 150)
  closeSync(fd)
  t.match(torn.toString(), /x{99}\nx{50}$/, 'the second one is torn')
  truncateSync(path, 0)
  // It tries again each second.
  while (file.failing) await sleep(50)
  t.strictSame(events.slice(1), [{ event: 'audit_written' }])
  t.equal(text(path), `\n${line}y\n`, 'what was torn follows whole; what was refused is not there')
  truncateSync(path, LARGEST - 10)
  file.put('short')
  file.put('longer than that')
  file.put('also kept')
  truncateSync(path, 0)
  await file.commit('then', false)
  t.match(text(path), /^\nlonger than that\nalso kept\nthen\n$/)
  truncateSync(path, LARGEST)
  file.put('no room')
  await t.rejects(file.commit('x', false))
  truncateSync(path, 0)
  while (file.failing) await sleep(50)
  t.equal(text(path), 'no room\n')
  events.length = 0
  truncateSync(path, LARGEST)
  for (let i = 0; i < 11; i++) file.append('z'.repeat(100_000))
  await t.rejects(file.commit('x', false))
  t.strictSame(events.slice(-1), [{ event: 'audit_lost', lines: 1 }], 'a bound on memory')
  await file.close()
  t.strictSame(events.slice(-1), [{ event: 'audit_lost', lines: 10, reason: 'EFBIG' }])
})

t.test('is a file outside every root, and says what else it is', async t => {
  const folder = testFolder(t, { root: { in: {} }, out: {}, file: '' })
  const at = (...names: string[]) => join(folder, ...names)
  symlinkSync(at('root', 'in'), at('link'))
  symlinkSync(at('file'), at('linked'))
  execFileSync('mkfifo', [at('fifo')])
  const roots = [at('missing'), at('root')]
  for (const [path, fault] of [
    [at('out', 'a'), null],
    [at('file'), null],
    [at('root', 'a'), `is in the root ${at('root')}`],
    [at('root', 'in', 'a'), `is in the root ${at('root')}`],
    [at('link', 'a'), `is in the root ${at('root')}`],
    [at('linked'), 'it is a symbolic link'],
    [at('out'), 'it is not a file'],
    [at('fifo'), 'it is not a file'],
    ['/dev/null', 'it is not a file'],
    [at('nowhere', 'a'), 'is in no folder that can be used: ENOENT'],
    [at('out', 'a'.repeat(300)), "can't be written: ENAMETOOLONG"]
  ] as const) {
    const faults = auditFaults(path, roots)
    if (fault === null) t.strictSame(faults, [])
    else t.ok(faults[0]?.startsWith(`--audit "${path}" `) && faults[0].includes(fault), faults[0] ?? path)
    t.equal(faults.length, fault === null ? 0 : 1)
  }
  chmodSync(at('out'), 0o755)
})
