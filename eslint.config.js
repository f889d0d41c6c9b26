// Lint rules: neostandard, for TypeScript; the generated and the built are left out. `npm run lint` installs it the first time.
import neostandard from './.ci/tools/node_modules/neostandard/index.js'

export default [
  ...neostandard({ ts: true, ignores: ['dist', '.tap', 'workspace', 'openapi.yaml'] }),
  { rules: { camelcase: 'off', '@stylistic/max-len': 'off' } }
]
