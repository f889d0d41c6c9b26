// The part of a document that a test writes, between `<!-- NAME -->` and `<!-- /NAME -->`.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'

/** Tests that the part of the document holds these lines, each with its line break; with DOCS=write it writes them. */
export function checkMarked(t: Test, document: string, name: string, lines: string): void {
  const text = readFileSync(document, 'utf8')
  const marked = new RegExp(`(?<=^<!-- ${name} -->\\n)[^]*?(?=^<!-- /${name} -->$)`, 'm')
  t.match(text, marked, 'there is a place for it')
  const now = text.replace(marked, () => lines)
  if (process.env.DOCS === 'write') writeFileSync(document, now)
  else t.equal(text, now, 'as npm run docs writes it')
}
