// Characters that nobody sees: named in the sentence, and as escapes in the call, of texts and of paths.
import t from 'tap'
import { jsonShown, withHiddenNamed } from '../../../src/http/answers/invisible.ts'
import { bytesOf, startServer } from '../test-server.ts'

t.test('writes in JSON as an escape what is invisible or composed of several characters', t => {
  const cases: [text: string, json: string, named: string][] = [
    ['a b', '"a b"', 'a b'],
    ['10\u202f000', '"10\\u202f000"', '10[U+202F narrow no-break space]000'],
    ['\u2764\ufe0f', '"\u2764\\ufe0f"', '\u2764[U+FE0F variation selector-16]'],
    ['\u{1F468}\u200d\u{1F469}', '"\u{1F468}\\u200d\u{1F469}"', '\u{1F468}[U+200D zero width joiner]\u{1F469}'],
    ['cafe\u0301', '"cafe\\u0301"', 'cafe[U+0301 combining mark]'],
    ['caf\u00e9', '"caf\u00e9"', 'caf\u00e9'],
    ['\u{E0041}', '"\\udb40\\udc41"', '[U+E0041]'],
    // Marks that can't be composed with their letter are seen.
    ['\u0915\u093f', '"\u0915\u093f"', '\u0915\u093f']
  ]
  for (const [text, json, named] of cases) {
    t.equal(jsonShown(text), json)
    t.equal(JSON.parse(json), text)
    t.equal(withHiddenNamed(text), named)
  }
  t.end()
})

t.test('offers calls that work when only what is seen is copied', async t => {
  const files = {
    'a.txt': 'price: 10\u202f000\n',
    'd.txt': 'a\u2028b\n',
    'e.txt': 'cafe\u0301 noir\n',
    'x\u202fy.txt': 'z\n'
  }
  const server = await startServer(t, { files })
  const cases: [
    path: string,
    old_text: string,
    new_text: string,
    what: string,
    name: keyof typeof files,
    result: string
  ][] = [
    ['a.txt', 'price: 10 000', 'price: 20 000', 'U+202F narrow no-break space', 'a.txt', 'price: 20\u202f000\n'],
    ['d.txt', 'a\nb', 'a\nc', '', 'd.txt', 'a\u2028c\n'],
    ['e.txt', 'caf\u00e9 noir', 'caf\u00e9 vert', 'cafe[U+0301 combining mark]', 'e.txt', 'cafe\u0301 vert\n'],
    ['x y.txt', 'z', 'y', 'did you mean x[U+202F narrow no-break space]y.txt?', 'x\u202fy.txt', 'y\n']
  ]
  const textOf = async (body: object) =>
    (await server.call('POST', '/tools/edit_file', { body, headers: { accept: 'text/plain' } })).text
  for (const [path, old_text, new_text, what, name, result] of cases) {
    const text = await textOf({ path, old_text, new_text })
    t.ok(text.includes(what), text)
    const call = text.split('\n').find(line => line.startsWith('{'))!
    t.notMatch(call, /\u202f|\u2028|\u0301/)
    await textOf(JSON.parse(call) as object)
    t.equal(bytesOf(server, name), result)
  }
})

t.test('escapes what cannot be seen in the JSON of a problem', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'price: 10\u202f€\n' } })
  const edit = { path: 'a.txt', old_text: 'price: 10 €', new_text: 'price: 12 €' }
  const { status, text, body } = await server.call('POST', '/edit', { body: edit })
  t.equal(status, 422)
  t.notMatch(text, /\u202f/)
  t.match(text, '10\\u202f€')
  t.match(body, { suggested_fixes: [{ edit: { old_text: 'price: 10\u202f€', new_text: 'price: 12\u202f€' } }] })
})
