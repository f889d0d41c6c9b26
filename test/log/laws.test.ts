// Laws on random records: what is written is read again, whatever its bytes; an index says what its segment says.
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { SegmentIndex } from '../../src/log/segment-index.ts'
import { decodeTexts, encodeTexts, sha256 } from '../../src/log/texts-json.ts'
import {
  decodeFacts,
  decodeRecord,
  forgottenJson,
  recordLine,
  settlementLine,
  type EncodedLine
} from '../../src/log/record-json.ts'
import { jsonOf } from '../../src/log/line.ts'
import { Ids, isId } from '../../src/log/ids.ts'
import type { EditRecord, Settlement } from '../../src/log/record.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'

const random = new Random(SEED)
const WORDS = ['a', 'é', '😀', '\n', '\r', '"', '\\', ',"texts":', '\u0000', '\u2028', '\ufeff', '{', '}'] as const

const bytes = (): Buffer =>
  random.chance(30) ? randomBytes(random.int(60)) : Buffer.from(random.text(WORDS, random.pick([3, 50])))
const list = <T>(make: () => T): T[] => Array.from({ length: random.int(4) }, make)
const number = () => random.int(1e6)
const maybe = <T extends object>(value: T): T | object => (random.chance(50) ? value : {})
const ids = new Ids()

const randomRecord = (): EditRecord => ({
  edit_id: ids.next(),
  operation: random.pick([
    'edit',
    'edit_lines',
    'edit_section',
    'create',
    'replace',
    'apply_patch',
    'undo',
    'redo',
    'outside'
  ]),
  at: number(),
  path: bytes(),
  hash_before: random.pick([null, 'ab']),
  hash_after: random.pick([null, 'cd']),
  size_before: number(),
  size_after: number(),
  lines_added: number(),
  lines_removed: number(),
  splices: random.chance(10) ? null : list(() => ({ start: number(), old: bytes(), insert: bytes() })),
  places: random.chance(10)
    ? null
    : list(() => ({
        start_line: number(),
        new_start_line: number(),
        lines_removed: number(),
        lines_added: number(),
        before: bytes(),
        after: bytes()
      })),
  ...maybe({ agent: random.text(WORDS, 5) }),
  ...maybe({ session: random.text(WORDS, 5) }),
  ...maybe({ reason: random.text(WORDS, 5) }),
  ...maybe({ encodings: { ...maybe({ before: 'utf-16le' as const }), ...maybe({ after: 'shift_jis' as const }) } }),
  ...maybe({ temp: random.text(WORDS, 5) }),
  ...maybe({ toggles: list(() => ({ edit_id: ids.next(), ...maybe({ change_indexes: list(number) }) })) }),
  ...maybe({ made_folders: list(bytes) }),
  ...maybe({ attributes: { mode: number(), uid: number(), gid: number() } }),
  ...maybe({
    key: {
      digest: random.text(WORDS, 5),
      fingerprint: 'f',
      outcome: random.pick([null, 1, '', { texts: ['"'] }, [[]]])
    }
  })
})

t.test('reads what was written, with texts in the line, in blobs of their own and in one together', async t => {
  const rounds = often(5000, 2000, 300)
  for (let i = 0; i < rounds; i++) {
    const record = randomRecord()
    const limit = random.pick([0, 10, 100, 1e6])
    const { json, blobs } = await encodeTexts(record, limit)
    const { bytes: line, entry } = recordLine(
      record,
      json,
      blobs.map(({ name }) => name),
      ids.latest
    )
    const found = jsonOf(line)!
    const { facts, texts, outcome } = decodeRecord(found)!
    const read = async (name: string) => blobs.find(blob => blob.name === name)?.bytes ?? null
    const { hasTexts, blobs: names, seen, key, change_count, ...others } = facts
    const again = { ...others, ...(await decodeTexts(texts, read)), ...(key && { key: { ...key, outcome } }) }
    const forgotten = forgottenJson(found)!
    const rest = decodeRecord(Buffer.from(forgotten))!
    // One assertion: thousands of rounds of ten would take longer to report than to make.
    const isSame = t.strictSame(
      {
        change_count,
        record: again,
        short: decodeFacts(found),
        'known without reading it': entry,
        hasTexts,
        names: names.length,
        blobs: await Promise.all(blobs.map(({ bytes }) => sha256(bytes))),
        sawOlder: seen === undefined || seen > record.edit_id,
        forgotten: {
          length: Buffer.byteLength(forgotten),
          facts: rest.facts,
          texts: rest.texts,
          again: forgottenJson(Buffer.from(forgotten))
        }
      },
      {
        change_count: record.splices?.length,
        record,
        short: { facts },
        'known without reading it': { facts },
        hasTexts: true,
        names: blobs.length,
        blobs: blobs.map(({ name }) => name),
        sawOlder: true,
        forgotten: {
          length: found.length,
          facts: { ...facts, hasTexts: false, blobs: [] },
          texts: null,
          again: null
        }
      },
      `seed ${SEED}, round ${i}`
    )
    if (!isSame) return
  }
  t.comment(`held for ${rounds} cases`)
})

t.test('any changed byte of a line is found', async t => {
  const { json } = await encodeTexts(randomRecord(), 1e6)
  const line = recordLine(randomRecord(), json, [], '').bytes
  for (let i = 0; i < line.length; i++) {
    const changed = Buffer.from(line)
    changed[i]! ^= 1 << random.int(8)
    if (jsonOf(changed) !== null) return t.fail(`byte ${i}, seed ${SEED}`)
  }
  t.pass()
})

t.test('an index read in any pieces, written and read again, says what the lines say', async t => {
  const rounds = often(400, 40)
  for (let i = 0; i < rounds; i++) {
    const parts: (EncodedLine | Buffer)[] = []
    const settled = new Map<string, Settlement>()
    const records: EditRecord[] = []
    for (let k = random.int(60); k >= 0; k--) {
      if (records.length > 0 && random.chance(40)) {
        const { edit_id } = random.pick(records)
        const as = random.pick(['done', 'void', 'uncertain'] as const)
        if (as !== 'uncertain' || !settled.has(edit_id)) settled.set(edit_id, as)
        parts.push(settlementLine(edit_id, as))
      } else if (random.chance(5)) parts.push(Buffer.from(random.pick(['\n', 'torn\n', 'x y\nz\n'])))
      else {
        const record = randomRecord()
        records.push(record)
        parts.push(recordLine(record, (await encodeTexts(record, 1e6)).json, [], ''))
      }
    }
    const all = Buffer.concat(parts.map(part => ('entry' in part ? part.bytes : part)))
    const index = new SegmentIndex()
    for (let end = 0; index.end < all.length;) {
      end = Math.min(all.length, Math.max(end, index.end) + 1 + random.int(500))
      index.push(all.subarray(index.end, end), false)
    }
    const told = new SegmentIndex()
    for (const part of parts) {
      if ('entry' in part) told.take(part.entry, told.end, part.bytes.length)
      else told.push(part, false)
    }
    if (!t.ok(told.toBytes().equals(index.toBytes()), `the same by what is known of lines, seed ${SEED}`)) return
    for (const known of [index, SegmentIndex.from(index.toBytes())]) {
      const rows = [...known.all()].map(row => known.row(row))
      const same = t.strictSame(
        rows.map(({ edit_id, at, path, agent, session, settled }) => ({ edit_id, at, path, agent, session, settled })),
        records.map(({ edit_id, at, path, agent, session }) => ({
          edit_id,
          at,
          path: path.toString('latin1'),
          agent: agent === undefined ? null : Buffer.from(agent).toString('latin1'),
          session: session === undefined ? null : Buffer.from(session).toString('latin1'),
          settled: settled.get(edit_id) ?? null
        })),
        `seed ${SEED}, round ${i}`
      )
      t.equal(known.unsettled, records.length - settled.size)
      if (!same) return
    }
  }
  t.comment(`held for ${rounds} cases`)
})

t.test('gives later and later ids, whatever the clock says and others have given', async t => {
  const [one, two] = [new Ids(), new Ids()]
  let last = ''
  for (let i = 0; i < 2000; i++) {
    const [given, other] = random.chance(50) ? [one, two] : [two, one]
    given.saw(other.latest)
    const id = given.next(random.pick([0, 1_700_000_000_000, 1_600_000_000_000 + random.int(5)]))
    if (!isId(id) || id <= last) return t.fail(`${last} ${id}, seed ${SEED}`)
    last = id
  }
  const full = new Ids()
  full.saw(`0123456789${'Z'.repeat(16)}`)
  t.match(full.next(0), /^012345678A00000000/)
  t.notOk(isId('Z'.repeat(26)), 'leaves room for later ones')
  t.notOk(isId(7))
})
