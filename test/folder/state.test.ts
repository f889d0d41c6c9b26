// The state folder while a server runs: emptied, removed, replaced, full.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { testFolder } from '../folder.ts'
import { checkState, hasRoom, openState } from '../../src/folder/state.ts'
import { canMount, isRoot } from './support/machine.ts'

/** An open state folder, and what is found of it; with `restored` where something was made again. */
function opened(t: Test, folder = join(testFolder(t), 'state')) {
  const state = openState(folder)
  const check = () => {
    let restored = false as boolean
    const failure = checkState(state, () => {
      restored = true
    })
    return { ...(failure !== null && { reason: failure.reason }), ...(restored && { restored }) }
  }
  return { folder, state, check }
}

t.test('makes again what was removed from the folder, and nothing else', t => {
  const { folder, state, check } = opened(t)
  t.strictSame(check(), {})
  for (const part of [state.locks, state.unreleased, state.intents, state.journal, state.live]) {
    rmSync(part, { recursive: true })
    t.strictSame(check(), { restored: true }, part)
    t.ok(existsSync(part))
  }
  execFileSync('find', [folder, '-mindepth', '1', '-delete'])
  t.strictSame(check(), { restored: true })
  t.strictSame(readFileSync(join(folder, 'secret')), state.secret)
  t.strictSame(openState(folder), state)
  t.strictSame(check(), {})
  t.notOk(existsSync(join(folder, 'probe')))
  t.end()
})

t.test('makes nothing in another folder, or where another server made a secret', t => {
  const { folder, state, check } = opened(t)
  renameSync(folder, `${folder}-old`)
  t.strictSame(check(), { reason: 'state_unwritable' })
  t.notOk(existsSync(folder))
  mkdirSync(folder)
  t.strictSame(check(), { reason: 'state_replaced' })
  t.notOk(existsSync(state.locks))
  rmSync(folder, { recursive: true })
  renameSync(`${folder}-old`, folder)
  t.strictSame(check(), {})
  writeFileSync(join(folder, 'secret'), Buffer.alloc(32))
  rmSync(state.locks, { recursive: true })
  t.strictSame(check(), { reason: 'state_replaced' })
  t.notOk(existsSync(state.locks))
  t.end()
})

t.test('says that nothing can be written', { skip: isRoot && 'root may write everywhere' }, t => {
  const { folder, check } = opened(t)
  chmodSync(folder, 0o500)
  t.strictSame(check(), { reason: 'state_unwritable' })
  chmodSync(folder, 0o700)
  t.end()
})

t.test('says that the disk is full', { skip: !canMount && 'needs to mount' }, t => {
  const folder = join(testFolder(t), 'state')
  mkdirSync(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder])
  t.teardown(() => spawnSync('umount', ['-l', folder]))
  const { state, check } = opened(t, folder)
  t.ok(hasRoom(state))
  spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'filler')}`, 'bs=4k', 'count=100'], { stdio: 'ignore' })
  t.notOk(hasRoom(state))
  t.strictSame(check(), {})
  t.notOk(existsSync(join(folder, 'probe')))
  rmSync(join(folder, 'filler'))
  t.ok(hasRoom(state))
  t.end()
})

t.test('makes no secret where something that can’t be read stands', async t => {
  const folder = join(testFolder(t), 'state')
  mkdirSync(folder, { mode: 0o700 })
  symlinkSync('nowhere', join(folder, 'secret'))
  t.throws(() => openState(folder), { message: /ENOENT/ })
})
