// Lint rules: neostandard, for TypeScript; the generated and the built are left out.
import neostandard from 'neostandard'

export default [
  ...neostandard({ ts: true, ignores: ['dist', '.tap', 'workspace', 'openapi.yaml'] }),
  { rules: { camelcase: 'off', '@stylistic/max-len': 'off' } }
]
