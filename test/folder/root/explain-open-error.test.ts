// Why a long path could not be opened: found by few looks, and the same as by a look at each name.
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { explainOpenError, findStop, type PathAccess } from '../../../src/folder/root/explain-open-error.ts'
import { below } from '../../../src/workspace/path.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { testFolder } from '../../folder.ts'
import { often } from '../../often.ts'

const DEEP = 'a/'.repeat(30)
const MISSING = Object.assign(new Error('as of open(2)'), { code: 'ENOENT' })

t.test('says of a long path what a look at each name says', async t => {
  const top = realpathSync(testFolder(t, { root: {}, outside: {} }))
  const root = join(top, 'root')
  mkdirSync(join(root, DEEP), { recursive: true })
  writeFileSync(join(root, DEEP, 'file'), '')
  for (const [name, target] of [
    ['again', '..'],
    ['top', root],
    ['out', join(top, 'outside')],
    ['loop', 'loop'],
    ['nowhere', 'no/such']
  ] as const) {
    for (const folder of ['.', DEEP]) symlinkSync(target, join(root, folder, name))
  }
  const at = (path: Buffer): Buffer => Buffer.from(join(root, path.toString()))
  const resolve: PathAccess['resolve'] = path =>
    below(Buffer.from(root), realpathSync.native(at(path), { encoding: 'buffer' }))
  for (const path of [
    `${DEEP}g`,
    `${DEEP}file/g`,
    `${DEEP}g/${DEEP}g`,
    `${DEEP}../${DEEP}g`,
    `again/${DEEP}g`,
    ...['again', 'top', 'out', 'loop', 'nowhere'].flatMap(link => [
      `${DEEP}${link}`,
      `${DEEP}${link}/g`,
      `${DEEP}${link}/${DEEP}g`,
      `${link}/${DEEP}top/${DEEP}g`
    ])
  ]) {
    const [relative, real] = [Buffer.from(path), Buffer.from(root)]
    const bisecting: PathAccess = { at, resolve }
    const none: PathAccess = { at, resolve: () => null }
    t.strictSame(
      explainOpenError(MISSING, relative, real, bisecting),
      explainOpenError(MISSING, relative, real, none),
      path
    )
    t.strictSame(findStop(relative, real, bisecting), findStop(relative, real, none), path)
    for (const confinement of process.platform === 'linux' ? (['proc', 'portable'] as const) : []) {
      const opened = openRoot(root, confinement)
      t.strictSame(opened.stop(relative), findStop(relative, real, none), `${path} (${confinement})`)
      opened.close()
    }
  }
})

t.test('looks at few names of a long path', async t => {
  const root = realpathSync(testFolder(t))
  const deep = 'a/'.repeat(often(1000, 1000, 200))
  mkdirSync(join(root, deep), { recursive: true })
  let looks = 0
  const at = (path: Buffer): Buffer => {
    looks++
    return Buffer.from(join(root, path.toString()))
  }
  const resolve: PathAccess['resolve'] = path =>
    below(Buffer.from(root), realpathSync.native(at(path), { encoding: 'buffer' }))
  t.match(explainOpenError(MISSING, Buffer.from(`${deep}g`), Buffer.from(root), { at, resolve }), { code: 'MISSING' })
  t.ok(looks < 20, `${looks} looks`)
})
