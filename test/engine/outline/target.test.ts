// How items of an outline are shown. What is meant by which name: symbols.test.ts and markdown.test.ts beside it.
import t from 'tap'
import { markdownOutline } from '../../../src/engine/outline/markdown.ts'
import { findTarget, outlineEntryOf } from '../../../src/engine/outline/target.ts'

t.test('cuts names that no request may have, and says so', t => {
  const shown = (text: string) => markdownOutline(Buffer.from(text)).items.map(outlineEntryOf)
  const [fits, long] = ['x'.repeat(1000), 'y'.repeat(50_000)]
  const cut = /^y{500}…\[49000 characters left out\]…y{500}$/
  t.match(shown(`# ${fits}\n\n## z\n`), [{ name: fits }, { name: 'z', parent: fits }])
  t.match(shown(`# ${long}\n\n\`\`\`${long}\n\`\`\`\n`), [{ name: cut }, { parent: cut, language: cut }])
  t.end()
})

t.test('names none as like the one that was asked for that no request may have', t => {
  const outline = markdownOutline(Buffer.from(`# foo${'y'.repeat(1000)}\n# foo 2\n`))
  t.match(findTarget(outline, { heading: 'foo' }), { failure: { nearest: ['foo 2'] } })
  t.match(findTarget(outline, { heading: 'foo' }), { failure: { nearest: { length: 1 } } })
  t.end()
})
