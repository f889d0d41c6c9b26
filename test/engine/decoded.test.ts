// Texts in other encodings as UTF-8 and back: which encoding it is, and random edits and changes, after which all bytes
// outside of them are the same.
import iconv from 'iconv-lite'
import t from 'tap'
import { decodedChanges, encodedPlan } from '../../src/engine/decoded.ts'
import type { RecordedChange } from '../../src/engine/undo/change.ts'
import { differing } from '../../src/engine/undo/refine.ts'
import { decodedText, unencodable } from '../../src/engine/text/codec.ts'
import { Random, SEED } from '../random.ts'

const soon = async () => {}
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')

/** The text in an encoding is seen to be in that one. */
function sees(encoding: string, ...texts: string[]): void {
  t.test(`sees ${encoding}`, async t => {
    for (const text of texts) {
      const decoded = await decodedText(iconv.encode(text, encoding), iconv, soon)
      t.equal(decoded?.codec.name, encoding, text)
      t.equal(decoded?.text.toString(), text)
    }
  })
}
sees('windows-1252', 'café = 1\n', 'x = "é"\n', 'naïve déjà vu; Größe\n', '“a” – it’s © 2020\n', 'a° b² £5 ½\n')
sees('windows-1252', 'ESPAÑA señor ¿qué? ¡sí!\n', 'price = 5 €\n', `# ${'long '.repeat(40_000)}é\nÜber\n`)
sees('windows-1250', 'Příliš žluťoučký kůň\n', 'Zażółć gęślą jaźń\n')
sees('windows-1251', 'Привет, мир\n', '# имя\n', '// ОШИБКА в коде\n')
sees('koi8-r', 'Привет, мир\n')
sees('shift_jis', '名前\n', '設定ファイルを読み込む。\n', '# 日本語\nx = 1\n')
sees('euc-jp', '# 日本語のコメント\n')
sees('euc-kr', '이름 = 값\n', '# 한국어 주석\n')
sees('gb18030', '# 中文注释\n', '名称 = 测试\n')
sees('big5', '# 中文註解\n', '讀取設定檔，失敗時傳回錯誤。\n')

/** Bytes whose encoding is not guessed. */
const unseen = (name: string, bytes: string) =>
  t.test(`does not guess at ${name}`, async t => {
    t.equal(await decodedText(Buffer.from(bytes, 'latin1'), iconv, soon), null)
  })
unseen('UTF-8', 'caf\xc3\xa9')
unseen('mostly UTF-8', '\xe9 \xc3\xa9 \xc3\xa8')
unseen('a byte that no such text has', 'caf\x81')
unseen('text of two encodings', '\xe9 \xe8 \xc3\xa9 \x81')
// What is looked at fits, and what comes behind it doesn't.
unseen('a byte of another encoding at the end', `${'name = M\xfcller\n'.repeat(6000)}\x81\n`)

t.test('names the first character that an encoding does not have', async t => {
  const { codec } = (await decodedText(iconv.encode('é a', 'windows-1252'), iconv, soon))!
  t.equal(unencodable(codec, 'a € 😀 ✓'), '😀')
})

t.test('lets others run while it reads a long text, and parts no character', async t => {
  const texts = {
    shift_jis: 'ソース表示ー\n',
    gb18030: '中文😀测试\n',
    'utf-16le': '😀 名前\n',
    'utf-16be': '😀 名前\n'
  }
  for (const [encoding, line] of Object.entries(texts)) {
    const text = `${encoding.startsWith('utf') ? '\ufeff' : ''}# ${line.repeat(30_000)}`
    const raw = iconv.encode(text, encoding, { addBOM: false })
    let rests = 0
    const rest = async () => {
      rests++
    }
    const decoded = (await decodedText(raw, iconv, rest))!
    t.equal(decoded.codec.name, encoding)
    t.ok(decoded.text.equals(Buffer.from(text)), encoding)
    t.ok(rests > 1, `${rests} times`)
    rests = 0
    const pieces = [decoded.text, Buffer.from('x\n')]
    const splices = [{ start: decoded.text.length, old: Buffer.alloc(0), insert: Buffer.from('x\n') }]
    const planned = await encodedPlan({ raw, ...decoded }, { pieces, splices }, rest)
    t.match(planned, { ok: true, value: { splices: [{ start: raw.length }] } })
    t.ok(rests > 1, `${rests} times`)
  }
})

t.test(`keeps all other bytes, and finds its changes again (seed ${SEED})`, async t => {
  const random = new Random(SEED)
  const letters: Record<string, string> = {
    'windows-1252': 'abé ß€\n',
    shift_jis: 'ab 名前ソ表\n',
    gb18030: 'ab 中文测\n😀',
    'utf-16le': 'ab é名\n😀\u010a'
  }
  for (const [encoding, alphabet] of Object.entries(letters)) {
    const characters = [...alphabet]
    const some = (most: number) => Array.from({ length: random.int(most) }, () => random.pick(characters)).join('')
    const encode = (text: string) => (encoding === 'utf-16le' ? utf16(text) : iconv.encode(text, encoding))
    const lead = { 'windows-1252': 'Größe für\n', shift_jis: '日本語のコメント\n', gb18030: '# 读取配置文件\n' }[
      encoding
    ]
    let text = `${lead ?? ''}${some(60)}`
    let raw = encode(text)
    const changes: RecordedChange[] = []
    const texts = [text]
    for (let round = 0; round < 40; round++) {
      const decoded = (await decodedText(raw, iconv, soon))!
      t.equal(decoded.codec.name, encoding)
      // The beginning stays, so that the encoding can be told.
      const points = [...text].map((_, i) => i)
      const [a, b] = [random.pick(points), random.pick(points)]
      const keep = Math.max(lead?.length ?? 0, Math.min(a, b))
      const now = [...text].slice(0, keep).join('') + some(8) + [...text].slice(Math.max(keep, a, b)).join('')
      const mark = encoding === 'utf-16le' ? '\ufeff' : ''
      const after = Buffer.from(mark + now)
      const known = random.int(2) === 0 ? { splices: differing(decoded.text, after) } : {}
      const planned = await encodedPlan({ raw, ...decoded }, { pieces: [after], ...known }, soon)
      t.match(planned, { ok: true })
      if (!planned.ok) return
      const { splices, pieces } = planned.value
      const result = Buffer.concat(pieces)
      t.strictSame(result, encode(now))
      changes.push({ edit_id: String(round), splices })
      texts.push((text = now))
      raw = result
    }
    const { codec, text: end } = (await decodedText(raw, iconv, soon))!
    const seen = await decodedChanges(raw, changes, codec, soon)
    let present = end
    for (const [i, { splices }] of [...(seen ?? []).entries()].reverse()) {
      for (const { start, old, insert } of splices!.toReversed()) {
        // Where it is after the change.
        const before = splices!.filter(other => other.start < start)
        const at = before.reduce((sum, { old, insert }) => sum + insert.length - old.length, start)
        t.strictSame(present.subarray(at, at + insert.length), insert)
        present = Buffer.concat([present.subarray(0, at), old, present.subarray(at + insert.length)])
      }
      t.equal(present.toString().replace('\ufeff', ''), texts[i])
    }
  }
})

t.test('gives changes of which too little is known as such, and none where one is of another encoding', async t => {
  const raw = utf16('ab')
  const { codec } = (await decodedText(raw, iconv, soon))!
  const made = (splices: RecordedChange['splices'], edit_id: string): RecordedChange => ({ edit_id, splices })
  const one = (start: number, old: Buffer, insert: Buffer) => [{ start, old, insert }]
  const wide = (text: string) => Buffer.from(text, 'utf16le')
  const good = made(one(2, wide('x'), wide('a')), 'b')
  t.strictSame(
    await decodedChanges(raw, [made(one(2, wide('y'), wide('x')), 'a'), made(null, 'n'), good], codec, soon),
    [
      { edit_id: 'a', splices: null, change_count: 1 },
      { edit_id: 'n', splices: null },
      { edit_id: 'b', splices: one(3, Buffer.from('x'), Buffer.from('a')) }
    ]
  )
  t.match(await decodedChanges(raw, [made(one(99, wide('y'), wide('x')), 'a')], codec, soon), [{ splices: null }])
  for (const bad of [
    one(2, Buffer.from('x'), wide('a')),
    one(2, wide('\ud83d'), wide('a')),
    one(0, Buffer.alloc(0), raw.subarray(0, 2)),
    one(3, Buffer.from([0]), Buffer.from([0]))
  ]) {
    t.equal(await decodedChanges(raw, [made(bad, 'a')], codec, soon), null)
  }
})
