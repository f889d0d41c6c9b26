// Where the first suggestion begins and ends, for texts of several lines: by example.
import t from 'tap'
import { suggest } from '../../../src/engine/suggest/suggest.ts'

/** Expects the part of `file` between « and » as the first suggestion. */
const check = (name: string, sought: string, file: string, cause?: string): void => {
  const text = Buffer.from(file.replace(/[«»]/g, ''))
  const [best] = suggest(text, sought).candidates
  const found = best && text.toString('utf8', best.start, best.end)
  t.equal(found, file.slice(file.indexOf('«') + 1, file.indexOf('»')), name)
  if (cause !== undefined) t.equal(best?.cause.type, cause, name)
}

check(
  'ends with the last line, not with the bracket below it',
  'function rejects (t, promise, error) {\n  return t.rejects(payloadX () => { await promise }, error)',
  'x\n«function rejects (t, promise, error) {\n  return t.rejects(async () => { await promise }, error)»\n}\n}\n'
)
for (const end of ['\n', '\r\n']) {
  check(
    'ends with the closing bracket, below a comment that only old_text has',
    '\tName string\n\tData any\n// Update the whole state\n}',
    'type A struct {\n«\tName string\n\tData any\n}»\n\n// B contains the given object.\ntype B struct {\n'.replaceAll(
      '\n',
      end
    ),
    'comment'
  )
}

for (const end of ['\n', '\r\n']) {
  check(
    'ends with the whole line where old_text has a break, and says what follows there',
    '    for itm in items:\n        total += item.price\n',
    'total = 0\n«    for item in items:\n        total += item.price * item.count\n»return total\n'.replaceAll(
      '\n',
      end
    ),
    'stale'
  )
}
check(
  'has the break that old_text ends with, though a sign comes before it',
  'A sample text\n',
  '«A sample text.\n»Another line.\n'
)
check(
  'ends within the line where old_text does',
  '    for itm in items:\n        total += item.price',
  'total = 0\n«    for item in items:\n        total += item.price» * item.count\nreturn total\n',
  'word'
)
check(
  'ends within the line where much follows in it, though old_text has a break',
  'let alph = 1\nfunction add(first,second){return first+second};\n',
  `«let alpha = 1\nfunction add(first,second){return first+second};»${'let y=2;'.repeat(20)}\n`
)

const table = Array.from({ length: 30 }, (_, i) => `  \\define\\digit@${i}{\\character{${100 + i}}{${200 + i}}}`)
const head = '\\addHook{ONE}{\n  \\define\\nothing{\\kern\\space\\character{161}{251}\\kern\\space}'
check(
  'ends with the last line of old_text, though another is like its placeholder',
  [head, ...table.slice(0, 3), '  ...', table[29]].join('\n'),
  `«${head}\n${table.join('\n')}»\n}\n`,
  'elided'
)
check(
  'is as long as old_text, where the file has the same placeholder',
  'def stop(self, value: int) -> bool:\n    ...\n\ndef start(self, count: int) -> bool:',
  'class A:\n«def stop(self, value: int) -> bool:\n    ...\n\ndef start(self, total: int) -> bool:»\n    ...\n'
)
check(
  'has the fences of two blocks, of which old_text has a half each',
  '```console\n$ npm install\n```\n\nThen run whichever you want:\n\n```console\n```',
  '# Try\n\n«```console\n$ git clone x\n$ npm install\n```\n\nThen run whichever you want:\n\n```console\n$ node x\n```»\n'
)
