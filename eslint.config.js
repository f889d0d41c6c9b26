// Lint rules: neostandard, for TypeScript, without those of layout, which is prettier's; the generated and the built
// are left out. `npm run lint` installs it the first time.
import neostandard from './.ci/tools/node_modules/neostandard/index.js'

/** Words, and first words of a doc comment, over which a new reader stumbles. */
const DIALECT = /\b(whoever|of which|is told|comes to|as of)\b/i
const OPENINGS = /^\*\s*(Of|As of|The same)\b/
const plainWords = {
  create: ({ sourceCode, report }) => ({
    Program() {
      for (const { type, value, loc } of sourceCode.getAllComments()) {
        const found = DIALECT.exec(value)?.[0] ?? (type === 'Block' ? OPENINGS.exec(value)?.[1] : undefined)
        if (found !== undefined) report({ loc, message: `Say "${found}" in plain words.` })
      }
    }
  })
}

export default [
  ...neostandard({ ts: true, noStyle: true, ignores: ['dist', '.tap', 'workspace', 'openapi.yaml'] }),
  {
    plugins: { editd: { rules: { 'plain-words': plainWords } } },
    rules: { camelcase: 'off', 'editd/plain-words': 'error' }
  },
  {
    files: ['test/**/*.ts'],
    ignores: ['test/folder.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { property: 'testdir', message: 'Use testFolder of test/folder.ts: tap removes a folder too early.' }
      ]
    }
  }
]
