// Which files have their syntax checked, by their names and first lines.
import t from 'tap'
import { checkedLanguageOf } from '../../../src/engine/syntax/languages.ts'

t.test('knows the language in which a file is checked', async t => {
  const cases: [path: string, text: string, language: string | undefined, isOnlyForEdits?: true][] = [
    ['a.py', '', 'python'],
    ['src/A.TS', '', 'typescript'],
    ['a.txt', '', undefined],
    ['a.md', '', undefined],
    ['a.scss', '', undefined],
    ['tool', '#!/usr/bin/env node\n', 'javascript'],
    ['tool', '#!/bin/sh\n', 'shell'],
    ['tool', '#!/bin/zsh\n', undefined],
    ['a.sh', '#!/usr/bin/env ksh\n', undefined],
    ['a.zsh', '', undefined],
    ['package.json', '', 'json'],
    ['tsconfig.json', '', 'jsonc'],
    ['web/tsconfig.build.json', '', 'jsonc'],
    ['.vscode/settings.json', '', 'jsonc'],
    ['my-tsconfig.json', '', 'json'],
    ['a.jsonc', '', 'jsonc'],
    ['a.jsonl', '', undefined],
    ['a.json5', '', 'json5'],
    ['.babelrc', '', 'json5'],
    ['notes/a.ipynb', '', 'json'],
    ['a.code-workspace', '', 'jsonc'],
    ['composer.lock', '', 'json'],
    ['web/Pipfile.lock', '', 'json'],
    ['Pipfile', '', 'toml'],
    ['uv.lock', '', 'toml'],
    ['yarn.lock', '', undefined],
    ['.eslintrc', '{ "rules": {} }', 'jsonc'],
    ['.prettierrc', 'semi: false\n', 'yaml'],
    ['state', '\ufeff{\n  "a": 1\n}', 'json', true],
    ['state', '[[1]]', 'json', true],
    ['state', '{{ name }}', undefined],
    ['state', '[section]\na = 1\n', undefined],
    ['a.yml', '', 'yaml'],
    ['a.toml', '', 'toml'],
    ['a.c', '', 'c', true],
    ['a.hpp', '', 'cpp', true],
    ['a.css', '', 'css', true]
  ]
  for (const [path, text, language, isOnlyForEdits] of cases) {
    t.equal(checkedLanguageOf(path, Buffer.from(text), { isNew: false }), language, path)
    t.equal(checkedLanguageOf(path, Buffer.from(text), { isNew: true }), isOnlyForEdits ? undefined : language, path)
  }
})
