// Lint rules: neostandard, for TypeScript, without those of layout, which is prettier's; the generated and the built
// are left out. `npm run lint` installs it the first time.
import neostandard from './.ci/tools/node_modules/neostandard/index.js'

export default [
  ...neostandard({ ts: true, noStyle: true, ignores: ['dist', '.tap', 'workspace', 'openapi.yaml'] }),
  { rules: { camelcase: 'off' } },
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
