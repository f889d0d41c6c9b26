// What a new text repeats of what it replaces: by examples, and as a law on the documents of this repository.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { markdownOutline } from '../../../src/engine/outline/markdown.ts'
import type { Item } from '../../../src/engine/outline/outline.ts'
import { repeatedIn } from '../../../src/engine/outline/repeated.ts'
import { Random, SEED } from '../../random.ts'
import { rounds } from '../rounds.ts'

const DOCUMENT = [
  '---',
  'a: 1',
  '---',
  '## Setup ##',
  '',
  'Run it.',
  '',
  '```sh',
  'npm ci',
  '```',
  '',
  'Use',
  '---',
  '',
  'Text.',
  '',
  '> # Quote',
  '> Text.',
  '',
  '    code',
  ''
].join('\n')

t.test('finds a heading line and fences that are repeated', async t => {
  const bytes = Buffer.from(DOCUMENT)
  const { items } = markdownOutline(bytes)
  const named = (name: string) => items.find(item => ('name' in item ? item.name : item.kind) === name)!
  const [fenced, indented] = items.filter(({ kind }) => kind === 'code_block')
  const cases: [item: Item, new_text: string, repeated: string | undefined][] = [
    [named('Setup'), '## Setup\n\nRun that.\n', 'heading'],
    [named('Setup'), '\n  ## Setup ##', 'heading'],
    [named('Setup'), '# Setup\n', undefined],
    [named('Setup'), '## Setting up\n', undefined],
    [named('Setup'), 'Run that.\n## Setup\n', undefined],
    [named('Setup'), '', undefined],
    [named('Use'), 'Use\n---\n\nText.', 'heading'],
    [named('Use'), '## Use\n\nText.', 'heading'],
    [named('Use'), 'Use\n', undefined],
    [named('Quote'), '# Quote\nMore.', 'heading'],
    [named('Quote'), '> # Quote\n> More.', 'heading'],
    [named('front_matter'), '---\na: 1\n---\n', undefined],
    [fenced!, '```sh\nnpm i\n```\n', 'fences'],
    [fenced!, '```sh\nnpm i\n', undefined],
    [fenced!, '```sh', undefined],
    [fenced!, '```\nnpm i\n```', undefined],
    [fenced!, 'npm i', undefined],
    [indented!, '    code', undefined]
  ]
  for (const [item, new_text, repeated] of cases) {
    t.equal(repeatedIn(bytes, item, new_text), repeated, JSON.stringify(new_text))
  }
})

t.test('finds a doc comment that is repeated', async t => {
  const cases: [comment: string, new_text: string, repeated: boolean][] = [
    ['// Adds.', '// Adds.\nf()', true],
    ['// Adds.', '  // Adds.\r\nf()', true],
    ['// Adds.', '// Adds all.\nf()', true],
    ['# Adds.', '# Adds all.\nf()', true],
    ['-- Adds.', '-- Adds all.\nf()', true],
    ['/* Adds. */', '/* Adds all. */\nf()', true],
    ['// Adds.', '/* Adds all. */\nf()', false],
    ['/** Adds. */', '// Adds all.\nf()', false],
    ['// Adds.', '// TODO: check for overflow\nf()', false],
    ['// Adds.', '// eslint-disable-next-line no-console\nf()', false],
    ['// Adds.', '//go:noinline\nf()', false],
    ['# Adds.', '# noqa: E302\nf()', false],
    ['# Adds.', '# type: ignore\nf()', false],
    ['# Adds.', '#[inline]\nf()', false],
    ['// @ts-expect-error', '// Adds.\nf()', false],
    ['// ---- Sums ----', '// Adds.\nf()', false],
    ['//----- Sums', '// Adds.\nf()', false],
    ['// Types: all are numbers.', '// Type: a number.\nf()', true],
    ['# pragma: no cover', '# Adds.\nf()', false],
    ['/** Adds. */', '/** Adds two. */\nf()', true],
    ['/**\n * Adds.\n */', '/** Adds. */\nf()', true],
    ['/// Adds.', '/// Adds two.\nf()', true],
    ['/// Adds.', '/** Adds. */\nf()', false],
    ['# Adds.', 'f()\n# Adds.', false],
    ['# Adds.', '', false]
  ]
  for (const [comment, new_text, repeated] of cases) {
    const bytes = Buffer.from(`x\n${comment}\nf()\n`)
    const symbol: Item = {
      kind: 'function',
      name: 'f',
      within: -1,
      start_line: 3,
      end_line: 3,
      comment_start_line: 2,
      alone: true
    }
    t.equal(repeatedIn(bytes, symbol, new_text), repeated ? 'comment' : undefined, JSON.stringify(new_text))
    const { comment_start_line: _, ...bare } = symbol
    t.equal(repeatedIn(bytes, bare, new_text), undefined, 'of a symbol without comment')
  }
})

t.test('law: a whole item repeats what it begins with, its content does not', async t => {
  const documents = ['README.md', 'ARCHITECTURE.md', 'docs/answers.md', 'docs/tools.md', 'bench/README.md'].map(
    path => {
      const text = readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')
      return { text, lines: text.split('\n'), items: markdownOutline(Buffer.from(text)).items }
    }
  )
  for (const round of rounds(t, 400)) {
    const random = new Random(SEED * 80_001 + round)
    const { text, lines, items } = random.pick(documents)
    const item = random.pick(items)
    const eol = random.pick(['\n', '\r\n', '\r'])
    const of = (from: number, to: number) => '\n'.repeat(random.int(2)) + lines.slice(from - 1, to).join(eol)
    const whole = repeatedIn(Buffer.from(text), item, of(item.start_line, item.end_line))
    const content = repeatedIn(Buffer.from(text), item, of(item.start_line + 1, item.end_line))
    const expected = item.kind === 'heading' ? 'heading' : 'fences'
    if (whole !== expected || content !== undefined) t.fail(`${SEED} ${round} ${JSON.stringify(item)}`)
  }
})
