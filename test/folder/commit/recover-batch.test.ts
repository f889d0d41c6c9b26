// What a batch that a crash cut short is found in, and what the recovery makes of it: by what is on the disk, without a
// crash. Rows of docs/decisions/batch.md.
import { createHash } from 'node:crypto'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../../often.ts'
import { BatchRecords, identityOf, isFile, type BatchMember } from '../../../src/folder/commit/batch-record.ts'
import { Journal } from '../../../src/folder/commit/journal.ts'
import { recoverBatch } from '../../../src/folder/commit/recover-batch.ts'
import { thisOwner, type Owner } from '../../../src/folder/locks/owner.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { openState } from '../../../src/folder/state.ts'
import { letFail, type Fault } from '../support/let-fail.ts'
import {
  append,
  makeFolders,
  observer,
  onLinux,
  open,
  ownLocks,
  readPinned,
  REAL,
  removeFolders,
  type Folders
} from '../support/open.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
/** A process that has ended: no process has this start time. */
const deadOwner = (): Owner => ({ ...thisOwner(), start_time: '1' })

type Where =
  /** Nothing of it was renamed. */
  | 'old'
  /** It has its new content. */
  | 'new'
  /** Another program has saved it by a rename, before or after it got the new content. */
  | 'saved'
  | 'saved_after'
  /** Another program has saved it in place, before or after. */
  | 'saved_in_place'
  | 'saved_in_place_after'
  /** Another program has removed it, before or after. */
  | 'gone'
  | 'gone_after'
  /** Written in place: whole, half, not at all. */
  | 'whole'
  | 'half'
  | 'unwritten'
  /** Written in place as a whole; then another program has saved it in place. */
  | 'whole_saved'
  /** A removed file that was put back; its old link is still there. */
  | 'given_back'
  /** Likewise, but the old link has what another program had saved just before, by a rename or in place. */
  | 'moved_save'
  | 'moved_in_place'

interface MemberState {
  name: string
  is: Where
  /** It wasn't there before. */
  isNew?: true
  /** It is to be removed: `new` means that it is. */
  removes?: true
  /** Its temp file, or its old link, is lost. */
  lacks?: 'temp' | 'link'
}

interface Case {
  name: string
  members: MemberState[]
  decision?: 'void' | 'forward' | 'back'
  /** Old links were made; by default where any member is new. */
  links?: boolean
  /** The text of each member afterwards; null: there is none. */
  after: (string | null)[]
  /** `path outcome`, sorted. */
  reports?: string[]
  decided: 'void' | 'forward' | 'back'
}

const OLD = 'old\n'
const NEW = 'new\n'
const THEIRS = 'theirs\n'

const m = (is: Where, more: Partial<MemberState> = {}): MemberState => ({ name: '', is, ...more })
const made = (is: Where, more: Partial<MemberState> = {}): MemberState => m(is, { isNew: true, ...more })

const removed = (is: Where, more: Partial<MemberState> = {}): MemberState => m(is, { removes: true, ...more })

const REMOVALS: Case[] = [
  { name: 'nothing was renamed or removed', members: [m('old'), removed('old')], after: [OLD, OLD], decided: 'void' },
  {
    name: 'one is new, one to be removed',
    members: [m('new'), removed('old')],
    after: [NEW, null],
    decided: 'forward'
  },
  {
    name: 'one is removed',
    members: [removed('new'), m('old'), made('old')],
    after: [null, NEW, NEW],
    decided: 'forward'
  },
  { name: 'only removals', members: [removed('old'), removed('new')], after: [null, null], decided: 'forward' },
  { name: 'no removal', members: [removed('old'), removed('old')], after: [OLD, OLD], decided: 'void' },
  {
    name: 'one is removed, and all others are new',
    members: [removed('new'), m('new'), made('new')],
    after: [null, NEW, NEW],
    decided: 'forward'
  },
  {
    name: 'one to be removed was saved before anything was renamed',
    members: [removed('saved'), m('old')],
    links: true,
    after: [THEIRS, OLD],
    decided: 'void'
  },
  {
    name: 'one is new, and the one to be removed was saved',
    members: [m('new'), removed('saved')],
    after: [NEW, THEIRS],
    reports: ['1 left_alone'],
    decided: 'forward'
  },
  {
    name: 'one is new, and the one to be removed was saved in place',
    members: [m('new'), removed('saved_in_place')],
    after: [NEW, THEIRS],
    reports: ['1 left_alone'],
    decided: 'forward'
  },
  {
    name: 'one is new, and another program has removed the one to be removed',
    members: [m('new'), removed('gone')],
    after: [NEW, null],
    decided: 'forward'
  },
  {
    name: 'one is removed, and another program has made a file in its place',
    members: [removed('saved_after'), m('old')],
    after: [THEIRS, NEW],
    reports: ['0 left_alone'],
    decided: 'forward'
  },
  {
    name: 'another program’s save was removed',
    members: [removed('moved_save'), m('old')],
    after: [THEIRS, NEW],
    reports: ['0 left_alone'],
    decided: 'forward'
  },
  {
    name: 'another program’s save in place was removed',
    members: [removed('moved_in_place'), m('old')],
    after: [THEIRS, NEW],
    reports: ['0 left_alone'],
    decided: 'forward'
  },
  {
    name: 'a removal was taken back, and what is new wasn’t',
    members: [m('new'), removed('given_back'), m('old')],
    after: [NEW, null, NEW],
    decided: 'forward'
  },
  {
    name: 'all was taken back but for an old link',
    members: [m('old'), removed('given_back')],
    after: [OLD, OLD],
    decided: 'void'
  },
  {
    name: 'one is removed, and a temp file is lost',
    members: [removed('new'), m('old', { lacks: 'temp' }), m('new'), made('new')],
    after: [OLD, OLD, OLD, null],
    decided: 'back'
  },
  {
    name: 'it was decided to go back, and one is removed',
    decision: 'back',
    members: [removed('new'), removed('old'), removed('given_back'), m('new')],
    after: [OLD, OLD, OLD, OLD],
    decided: 'back'
  },
  {
    name: 'it was decided to go back, and another program has made a file in the place of the removed one',
    decision: 'back',
    members: [removed('saved_after'), m('new')],
    after: [THEIRS, OLD],
    reports: ['0 left_alone'],
    decided: 'back'
  },
  {
    name: 'one is removed, and one was written in place',
    members: [removed('new'), m('whole')],
    after: [null, NEW],
    decided: 'forward'
  }
]

const CASES: Case[] = [
  ...REMOVALS,
  { name: 'nothing was renamed', members: [m('old'), m('old'), made('old')], after: [OLD, OLD, null], decided: 'void' },
  { name: 'all old links were made', links: true, members: [m('old'), m('old')], after: [OLD, OLD], decided: 'void' },
  { name: 'one is new', members: [m('new'), m('old'), made('old')], after: [NEW, NEW, NEW], decided: 'forward' },
  { name: 'all are new', members: [m('new'), m('new'), made('new')], after: [NEW, NEW, NEW], decided: 'forward' },
  { name: 'only files that weren’t there', members: [made('new'), made('old')], after: [NEW, NEW], decided: 'forward' },
  { name: 'none of them was made', members: [made('old'), made('old')], after: [null, null], decided: 'void' },
  {
    name: 'one was saved before anything was renamed',
    members: [m('saved'), m('old')],
    links: true,
    after: [THEIRS, OLD],
    decided: 'void'
  },
  {
    name: 'one was saved in place before anything was renamed',
    members: [m('saved_in_place'), m('old')],
    after: [THEIRS, OLD],
    decided: 'void'
  },
  {
    name: 'one is new, another one was saved',
    members: [m('new'), m('saved'), m('old')],
    after: [NEW, THEIRS, NEW],
    reports: ['1 left_alone'],
    decided: 'forward'
  },
  {
    name: 'one is new, another one was saved in place',
    members: [m('new'), m('saved_in_place'), m('old')],
    after: [NEW, THEIRS, NEW],
    reports: ['1 left_alone'],
    decided: 'forward'
  },
  {
    name: 'one is new, and another program made a file that was to be made',
    members: [m('new'), made('saved')],
    after: [NEW, THEIRS],
    reports: ['1 left_alone'],
    decided: 'forward'
  },
  {
    name: 'one is new, another one was removed',
    members: [m('new'), m('gone')],
    after: [NEW, null],
    reports: ['1 left_alone'],
    decided: 'forward'
  },
  {
    name: 'one was new, and saved after that',
    members: [m('saved_after'), m('old')],
    after: [THEIRS, NEW],
    decided: 'forward'
  },
  {
    name: 'one was new, and saved in place after that',
    members: [m('saved_in_place_after'), m('old')],
    after: [THEIRS, NEW],
    decided: 'forward'
  },
  {
    name: 'one was new, and removed after that',
    members: [m('gone_after'), m('old')],
    after: [null, NEW],
    decided: 'forward'
  },
  {
    name: 'a temp file is lost',
    members: [m('new'), m('old', { lacks: 'temp' }), made('new')],
    after: [OLD, OLD, null],
    decided: 'back'
  },
  {
    name: 'a temp file is lost, and what was new was saved in place',
    members: [m('saved_in_place_after'), m('old', { lacks: 'temp' })],
    after: [THEIRS, OLD],
    reports: ['0 left_alone'],
    decided: 'back'
  },
  {
    name: 'a temp file is lost, and so is the old link of what is new',
    members: [m('new', { lacks: 'link' }), m('old', { lacks: 'temp' }), m('old')],
    after: [NEW, OLD, NEW],
    reports: ['1 left_mixed'],
    decided: 'forward'
  },
  {
    name: 'all temp files are lost',
    members: [m('old', { lacks: 'temp' }), m('old', { lacks: 'temp' })],
    after: [OLD, OLD],
    decided: 'void'
  },
  {
    name: 'it was decided to go on',
    decision: 'forward',
    members: [m('new'), m('old')],
    after: [NEW, NEW],
    decided: 'forward'
  },
  {
    name: 'it was decided to go back',
    decision: 'back',
    members: [m('new'), m('old'), made('new')],
    after: [OLD, OLD, null],
    decided: 'back'
  },
  {
    name: 'it was decided to go back, and another program has saved a file',
    decision: 'back',
    members: [m('saved_after'), m('new')],
    after: [THEIRS, OLD],
    reports: ['0 left_alone'],
    decided: 'back'
  },
  {
    name: 'it was decided to go back, and an old link is lost',
    decision: 'back',
    members: [m('new', { lacks: 'link' }), m('new')],
    after: [NEW, OLD],
    reports: ['0 left_mixed'],
    decided: 'back'
  },
  {
    name: 'it was decided that nothing was done',
    decision: 'void',
    members: [m('old'), m('whole')],
    after: [OLD, OLD],
    decided: 'void'
  },
  {
    name: 'some are written in place, and nothing was renamed',
    members: [m('whole'), m('half'), m('unwritten'), m('old')],
    after: [OLD, OLD, OLD, OLD],
    decided: 'void'
  },
  { name: 'all are written in place', members: [m('whole'), m('whole')], after: [OLD, OLD], decided: 'void' },
  {
    name: 'some are written in place, and one is new',
    members: [m('whole'), m('new'), m('old')],
    after: [NEW, NEW, NEW],
    decided: 'forward'
  },
  {
    name: 'one was saved after it was written in place, and one is new',
    members: [m('whole_saved'), m('new')],
    after: [THEIRS, NEW],
    decided: 'forward'
  },
  {
    name: 'some are written in place, and what is new has to be taken back',
    members: [m('whole'), m('new'), m('old', { lacks: 'temp' })],
    after: [OLD, OLD, OLD],
    decided: 'back'
  }
]

const IN_PLACE: Where[] = ['whole', 'half', 'unwritten', 'whole_saved']
const tempOf = (i: number): string => `.${String(i).padStart(24, 'a')}.tmp`
const linkOf = (i: number): string => `.${String(i).padStart(24, 'b')}.tmp`

/** Makes the state, with the batch record of a process that has ended. */
async function leave(folders: Folders, { members, decision, links }: Case): Promise<void> {
  const at = (name: string): string => join(folders.root, name)
  const owner = deadOwner()
  const state = openState(folders.state)
  const batches = new BatchRecords(state, observer(owner), 'fast')
  const id = batches.newId()
  mkdirSync(at('d'))
  const stat = (name: string) => lstatSync(at(name), { bigint: true })
  const isBegun = links ?? members.some(({ is }) => is === 'new' || is.endsWith('_after'))
  mkdirSync(at('spare'))
  const written: BatchMember[] = []
  for (const [i, { is, isNew, removes = false }] of members.entries()) {
    const name = `d/${i}`
    if (isNew === undefined) writeFileSync(at(name), OLD)
    const isRenamed = !IN_PLACE.includes(is) && !removes
    if (isRenamed) writeFileSync(at(`d/${tempOf(i)}`), NEW)
    written.push({
      path: Buffer.from(name),
      old: isNew ? null : { ...identityOf(stat(name)), digest: sha256(OLD) },
      digest: removes ? null : sha256(NEW),
      temp: isRenamed ? { ...identityOf(stat(`d/${tempOf(i)}`)), name: tempOf(i) } : null,
      link: isNew || IN_PLACE.includes(is) ? null : linkOf(i)
    })
  }
  await batches.save(id, {
    members: written,
    folders: [Buffer.from('d'), Buffer.from('d/empty')],
    emptied: [Buffer.from('spare')]
  })
  mkdirSync(at('d/empty'))
  if (decision !== undefined) {
    const journal = join(folders.state, 'journal')
    renameSync(join(journal, `${id}.batch`), join(journal, `${id}.${decision}.batch`))
  }
  for (const [i, { is, isNew, removes, lacks }] of members.entries()) {
    const [name, temp, link] = [at(`d/${i}`), at(`d/${tempOf(i)}`), at(`d/${linkOf(i)}`)]
    if (IN_PLACE.includes(is)) {
      const root = openRoot(folders.root)
      const { pin, snapshot, close } = await readPinned(root, `d/${i}`)
      await new Journal(state, observer(owner), 'fast').save(pin, snapshot, sha256(NEW), id)
      close()
      root.close()
      const text = { whole: NEW, half: 'ne', unwritten: OLD, whole_saved: THEIRS }[is as 'whole']
      writeFileSync(name, text)
      continue
    }
    if (is === 'moved_in_place') writeFileSync(name, THEIRS)
    if (is === 'moved_save') {
      writeFileSync(at('x'), THEIRS)
      renameSync(at('x'), name)
    }
    if (removes ? is === 'given_back' : isBegun && isNew === undefined) linkSync(name, link)
    if (removes && (is === 'new' || is === 'saved_after' || is.startsWith('moved'))) renameSync(name, link)
    else if (is === 'new' || is.endsWith('_after')) {
      if (isNew) linkSync(temp, name)
      else renameSync(temp, name)
    }
    if (is.startsWith('saved_in_place')) writeFileSync(name, THEIRS)
    else if (is.startsWith('saved')) {
      writeFileSync(at('x'), THEIRS)
      renameSync(at('x'), name)
    } else if (is.startsWith('gone')) unlinkSync(name)
    if (lacks === 'temp') rmSync(temp)
    if (lacks === 'link') rmSync(link)
  }
}

const textsOf = ({ root }: Folders, { members }: Case): (string | null)[] =>
  members.map((_, i) => (existsSync(join(root, `d/${i}`)) ? readFileSync(join(root, `d/${i}`), 'utf8') : null))

interface Event {
  event: string
  [key: string]: unknown
}

/** `cut`: an empty folder may be left, as the recovery removes it where it can. */
function checkAfter(t: Test, folders: Folders, one: Case, events: readonly Event[], cut = false): void {
  t.strictSame(textsOf(folders, one), one.after)
  const reports = events.filter(({ event }) => event === 'batch_unrecovered')
  t.strictSame(
    [...new Set(reports.map(({ path, outcome }) => `${String(path).slice(2)} ${outcome}`))].sort(),
    one.reports ?? []
  )
  for (const { kept, outcome, path } of reports) {
    if (kept !== undefined) t.equal(readFileSync(join(folders.state, 'journal', String(kept)), 'utf8'), NEW)
    else if (one.decided === 'forward') {
      const { removes } = one.members[Number(String(path).slice(2))]!
      t.notOk(outcome === 'left_alone' && !removes, 'what it would have written is kept')
    }
  }
  const left = existsSync(join(folders.root, 'd')) ? readdirSync(join(folders.root, 'd')) : []
  t.strictSame(
    left.filter(name => !/^\d$/.test(name) && !(name === 'empty' && (cut || one.decided === 'forward'))),
    [],
    'no temp file, no old link, no empty folder'
  )
  if (!cut) t.equal(existsSync(join(folders.root, 'd')), left.length > 0)
  if (!cut) t.equal(existsSync(join(folders.root, 'spare')), one.decided !== 'forward', 'a folder that isn’t needed')
  t.strictSame(
    readdirSync(join(folders.state, 'journal')).filter(name => /\.(batch|json|old)$/.test(name)),
    []
  )
}

t.test('brings all files to one state', { skip: ONLY_CI }, async t => {
  for (const one of CASES) {
    await t.test(one.name, async t => {
      const folders = makeFolders()
      t.teardown(() => removeFolders(folders))
      await leave(folders, one)
      const events: Event[] = []
      const workspace = await open(folders, { durability: 'full', report: event => events.push(event) })
      checkAfter(t, folders, one, events)
      t.strictSame(
        events.filter(({ event }) => event === 'batch_recovered').map(({ decision, files }) => [decision, files]),
        [[one.decided, one.members.length]]
      )
      await workspace.close()
      const again = await open(folders, { report: event => events.push({ ...event, event: 'again' }) })
      await again.close()
      t.notOk(
        events.some(({ event }) => event === 'again'),
        'and once'
      )
    })
  }
})

t.test('is done again where it was cut short', { skip: ONLY_CI }, async t => {
  for (const one of CASES) {
    await t.test(one.name, async t => {
      let steps = 0
      for (let cut = 1, reached = true; reached; cut++) {
        const folders = makeFolders()
        t.teardown(() => removeFolders(folders))
        await leave(folders, one)
        const state = openState(folders.state)
        const root = openRoot(folders.root)
        const journal = new Journal(state, observer(), 'fast')
        const batches = new BatchRecords(state, observer(), 'fast')
        const events: Event[] = []
        let count = 0
        /** Ends the recovery at one of its steps: it uses the root and the journal before each. */
        const step = (): void => {
          if (++count === cut) throw Object.assign(new Error('cut'), { code: 'EIO' })
        }
        const context = {
          root: Object.assign(Object.create(root), {
            openFolder: (path: Buffer) => {
              step()
              return root.openFolder(path)
            },
            pin: (path: Buffer) => {
              step()
              return root.pin(path)
            }
          }),
          journal,
          locks: ownLocks,
          durability: 'full' as const,
          report: (event: Event) => {
            events.push(event)
          }
        }
        const { left } = await batches.left(() => {})
        t.equal(left.length, 1)
        let isDone = false
        try {
          isDone = await recoverBatch(context, left[0]!)
        } catch (error) {
          if (!(error instanceof Error && error.message === 'cut')) throw error
        }
        reached = count >= cut
        steps = cut
        root.close()
        if (!reached) t.equal(isDone, true)
        const workspace = await open(folders, { report: event => events.push(event) })
        await workspace.close()
        checkAfter(t, folders, one, events, true)
      }
      t.ok(steps > 3, `${steps} steps`)
    })
  }
})

/** For each of these names, the first call fails that opens a file by it. */
const withoutDescriptors = (...names: string[]): Fault => {
  const left = new Set(names)
  return (call, from) => (call === 'openSync' && left.delete(from) ? 'EMFILE' : null)
}

t.test('is done again where a file can’t be looked at', { skip: onLinux ? false : 'needs /proc' }, async t => {
  const caseOf = (name: string): Case => CASES.find(one => one.name === name)!
  for (const [name, at] of [
    ['one is new', '1'],
    ['one is new', '0'],
    ['one is new, one to be removed', '1'],
    ['one is removed', linkOf(0)],
    ['it was decided to go back', '0']
  ] as const) {
    const one = caseOf(name)
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    await leave(folders, one)
    const events: Event[] = []
    const stop = letFail(withoutDescriptors(at))
    t.teardown(stop)
    await (await open(folders, { report: event => events.push(event) })).close()
    t.match(events[0], { event: 'batch_unrecovered', outcome: 'failed: NOT_READY' }, `${name}, ${at}`)
    t.ok(readdirSync(join(folders.state, 'journal')).some(file => file.endsWith('.batch')))
    await (await open(folders)).close()
    stop()
    t.strictSame(textsOf(folders, one), one.after)
    t.strictSame(readdirSync(join(folders.state, 'journal')), [])
  }
  const one = caseOf('one is new')
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  await leave(folders, one)
  const stop = letFail(withoutDescriptors('1'))
  t.teardown(stop)
  const edit = () => workspace.edit({ path: 'd/0' }, REAL, append('x'))
  t.match(await edit(), { ok: false, failure: { code: 'NOT_READY', reason: 'no_descriptors' } })
  t.match(await edit(), { ok: true })
  stop()
  t.strictSame(textsOf(folders, one), [`${NEW}x`, NEW, NEW])
})

t.test('copes with names that can’t be given', { skip: ONLY_CI }, async t => {
  const caseOf = (name: string): Case => CASES.find(one => one.name === name)!
  const cases: { name: string; one: Case; fault: Fault; after: (string | null)[] }[] = [
    {
      name: 'one can’t be renamed: it goes back',
      one: caseOf('it was decided to go on'),
      fault: (call, _, to) => (call === 'renameSync' && to === '1' ? 'EBUSY' : null),
      after: [OLD, OLD]
    },
    {
      name: 'there are no hard links',
      one: caseOf('only files that weren’t there'),
      fault: call => (call === 'linkSync' ? 'EPERM' : null),
      after: [NEW, NEW]
    },
    {
      name: 'one can’t be removed: it goes back',
      one: caseOf('one is new, one to be removed'),
      fault: (call, from) => (call === 'renameSync' && from === '1' ? 'EPERM' : null),
      after: [OLD, OLD]
    },
    {
      name: 'what is removed can’t be linked back',
      one: caseOf('it was decided to go back, and one is removed'),
      fault: call => (call === 'linkSync' ? 'EPERM' : null),
      after: [OLD, OLD, OLD, OLD]
    },
    {
      name: 'a rename fails: it is done again',
      one: caseOf('it was decided to go on'),
      fault: (() => {
        let isFirst = true
        return (call, _, to) => {
          const fails = isFirst && call === 'renameSync' && to === '1'
          if (fails) isFirst = false
          return fails ? 'EIO' : null
        }
      })(),
      after: [NEW, NEW]
    },
    {
      name: 'a name can’t be removed: it is done again',
      one: caseOf('all are new'),
      fault: (() => {
        let isFirst = true
        return (call, from) => {
          const fails = isFirst && call === 'unlinkSync' && from.endsWith('.tmp')
          if (fails) isFirst = false
          return fails ? 'EIO' : null
        }
      })(),
      after: [NEW, NEW, NEW]
    }
  ]
  for (const { name, one, fault, after } of cases) {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    await leave(folders, one)
    const stop = letFail(fault)
    for (let start = 0; start < 2; start++) await (await open(folders)).close()
    stop()
    t.strictSame(textsOf(folders, one), after, name)
    t.strictSame(readdirSync(join(folders.state, 'journal')), [])
  }
})

t.test('is done by whoever gets at a file first', { skip: ONLY_CI }, async t => {
  const [one] = CASES.filter(({ name }) => name === 'one is new') as [Case]
  for (const path of ['d/0', 'd/1', 'd/2']) {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const workspace = await open(folders)
    await leave(folders, one)
    t.match(await workspace.edit({ path: 'd/1' }, REAL, append(path)), { ok: true })
    t.strictSame(textsOf(folders, one), [NEW, NEW + path, NEW])
    await workspace.close()
  }
})

t.test('leaves alone what is of a server that may live, and what isn’t a record', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const events: Event[] = []
  const workspace = await open(folders, { lockTimeout: 50, report: event => events.push(event) })
  t.teardown(() => workspace.close())
  writeFileSync(join(folders.root, 'a'), OLD)
  const journal = join(folders.state, 'journal')
  const batches = new BatchRecords(openState(folders.state), observer(thisOwner()), 'full')
  const old = { ...identityOf(statSync(join(folders.root, 'a'), { bigint: true })), digest: sha256(OLD) }
  const member: BatchMember = { path: Buffer.from('a'), old, digest: sha256(NEW), temp: null, link: null }
  const running = await batches.save(batches.newId(), { members: [member], folders: [], emptied: [] })
  t.match(await workspace.edit({ path: 'a' }, REAL, append('x')), {
    failure: { code: 'FILE_LOCKED', reason: 'in_place' }
  })
  t.ok(batches.has(running.id))
  running.drop()
  t.notOk(batches.has(running.id))
  await batches.sync()
  const record = JSON.stringify({ owner: deadOwner(), members: [], folders: [], emptied: [] })
  const damaged: [name: string, text: string][] = [
    ['cut', record.slice(0, -5)],
    ['null', 'null'],
    ['without', '{}'],
    ['folders', record.replace('"folders":[]', '"folders":[1]')],
    ['emptied', record.replace('"emptied":[]', '"emptied":"d"')],
    ...[
      {},
      { path: 'YQ==', digest: 'x', old: 1, temp: null, link: null },
      { path: 'YQ==', digest: 'x', old: null, temp: null },
      { path: 'YQ==', digest: 'x', old: { dev: '1', ino: 'x', born: '0', digest: 'x' }, temp: null, link: null },
      { path: 'YQ==', digest: 'x', old: { dev: '1', ino: '1', born: '0' }, temp: null, link: null },
      { path: 'YQ==', digest: 'x', old: null, temp: { dev: '1', ino: '1', born: '0', name: 1 }, link: null },
      { path: 'YQ==', digest: null, old: null, temp: null, link: 'x' },
      { path: 'YQ==', digest: null, old: { dev: '1', ino: '1', born: '0', digest: 'x' }, temp: null, link: null }
    ].map((one, i): [string, string] => [
      `member${i}`,
      record.replace('"members":[]', `"members":[${JSON.stringify(one)}]`)
    ])
  ]
  for (const [name, text] of damaged) writeFileSync(join(journal, `${name}.batch`), text)
  t.notOk(batches.names(Buffer.from('a')), 'a damaged record names nothing')
  t.match(await workspace.edit({ path: 'a' }, REAL, append('x')), { ok: true })
  t.strictSame(readdirSync(journal).sort(), damaged.map(([name]) => `${name}.batch.aside`).sort(), 'put aside')
  t.strictSame(
    events.map(({ event, outcome }) => `${event} ${outcome}`),
    damaged.map(() => 'batch_unrecovered record_damaged')
  )
})

t.test('finds a record that is given another name meanwhile', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const one = CASES.find(({ name }) => name === 'nothing was renamed')!
  mkdirSync(folders.state)
  await leave(folders, one)
  const batches = new BatchRecords(openState(folders.state), observer(), 'fast')
  const { left } = await batches.left(() => {})
  const [batch] = left
  const decided = await batch!.decide('void')
  t.equal(batch!.now()?.decision, 'void')
  // As another one finds it who has listed the folder just before.
  const journal = join(folders.state, 'journal')
  symlinkSync('nowhere', join(journal, `${batch!.id}.batch`))
  t.equal(batch!.now()?.decision, 'void')
  t.equal((await batches.left(() => {})).left.length, 2)
  rmSync(join(journal, `${batch!.id}.batch`))
  symlinkSync('nowhere', join(journal, 'gone.batch'))
  t.equal((await batches.left(() => {})).left.length, 1)
  rmSync(join(journal, 'gone.batch'))
  t.ok(batches.names(Buffer.from(`d/${tempOf(0)}`)) && batches.names(Buffer.from(`d/${linkOf(0)}`)))
  decided.drop()
  t.equal(batch!.now(), null)
  await t.rejects(batch!.decide('back'), { code: 'ENOENT' })
})

t.test('knows a file again', t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a'), '')
  const stat = statSync(join(folders.root, 'a'), { bigint: true })
  const { dev, ino } = stat
  t.ok(isFile(stat, { dev, ino, born: 0n }))
  t.ok(isFile(stat, { dev, ino, born: stat.birthtimeNs }))
  t.notOk(isFile(stat, { dev, ino, born: 1n }) || isFile(undefined, { dev, ino, born: 0n }))
  t.equal(identityOf(Object.assign(Object.create(stat), { birthtimeNs: 5n, ctimeNs: 5n })).born, 0n)
  t.end()
})
