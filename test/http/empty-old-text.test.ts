// An edit without old_text: where there is no text, the answer has the call that puts new_text there.
import t from 'tap'
import { check, startServer } from './test-server.ts'

t.test('offers the call that creates the file, or fills it', async t => {
  const server = await startServer(t, { files: { 'empty.txt': '', 'full.txt': 'a\n', folder: {} } })
  const EVERYWHERE =
    /old_text is empty, and empty text matches everywhere\.(?: \[EMPTY_OLD_TEXT\])? To insert text, send nearby text/
  const cases: [path: string, detail: RegExp, next: object | null][] = [
    [
      'new.txt',
      /^old_text is empty, and there is no file new\.txt\. To create it, use \/create\.$/,
      {
        name: 'create_file',
        arguments: { path: 'new.txt', content: 'x\n' }
      }
    ],
    [
      'empty.txt',
      /^old_text is empty, and so is empty\.txt\. To put text into it, use \/edit-lines with start_line 1 and end_line 0\.$/,
      { name: 'edit_lines', arguments: { path: 'empty.txt', start_line: 1, end_line: 0, new_text: 'x\n' } }
    ],
    ['full.txt', EVERYWHERE, null],
    ['folder', EVERYWHERE, null],
    ['../out.txt', EVERYWHERE, null]
  ]
  const textOf = async (body: object) =>
    (await server.call('POST', '/tools/edit_file', { body, headers: { accept: 'text/plain' } })).text
  for (const [path, detail, next] of cases) {
    const edit = { old_text: '', new_text: 'x\n' }
    await check(t, server, '/edit', { path, ...edit }, 400, { code: 'EMPTY_OLD_TEXT', detail })
    await check(t, server, '/preview', { operation: 'edit', path, ...edit }, 400, { code: 'EMPTY_OLD_TEXT', detail })
    const numbered = new RegExp(detail.source.replace('^old_text', '^Edit 1 of 1 failed: old_text'))
    await check(t, server, '/edit', { path, edits: [edit] }, 400, { code: 'EMPTY_OLD_TEXT', detail: numbered })
    const two = { path, edits: [{ old_text: 'a', new_text: 'b' }, edit] }
    const second = new RegExp(detail.source.replace('^old_text', '^Edit 2 of 2 failed: old_text'))
    await check(t, server, '/edit', two, 400, { code: 'EMPTY_OLD_TEXT', detail: second })
    const operation = { operation: 'edit', path, ...edit }
    const inBatch = new RegExp(detail.source.replace('^', '').replace('$', ''))
    await check(t, server, '/batch', { operations: [operation] }, 400, { code: 'EMPTY_OLD_TEXT', detail: inBatch })
    const later = { operations: [{ operation: 'create', path, content: 'a' }, operation] }
    await check(t, server, '/batch', later, 400, { code: 'EMPTY_OLD_TEXT', detail: EVERYWHERE })
    const text = await textOf({ path, ...edit })
    if (next === null) t.match(text, EVERYWHERE)
    else t.strictSame(JSON.parse(text.split('\n').at(-1)!), next, 'as text')
  }
  t.notMatch(await textOf({ path: 'new.txt', old_text: '', new_text: 'x'.repeat(5000) }), /xxx/, 'no long call')
  t.match(
    await textOf({
      path: 'new.txt',
      edits: [
        { old_text: '', new_text: 'x' },
        { old_text: 'a', new_text: 'b' }
      ]
    }),
    /^Edit 1 of 2 failed: old_text is empty, and there is no file new\.txt\. \[EMPTY_OLD_TEXT\] To create it, use create_file\.$/
  )
  const { body } = await server.call('POST', '/adapters/anthropic-text-editor', {
    body: { command: 'str_replace', path: 'new.txt', old_str: '', new_str: 'x' }
  })
  t.match(
    body.output,
    /^old_str is empty, and there is no file new\.txt\. [^]*\n\{"command":"create","path":"new\.txt","file_text":"x"\}$/
  )
})
