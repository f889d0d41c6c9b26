// What GET /healthz and GET /readyz answer. Knows only the wire format.
import { named, word } from './common.ts'
import { Type } from './type.ts'

export const Health = named('Health', 'The process is running.', { status: word(['ok'], 'Always ok.') })
export const Readiness = named('Readiness', 'The service accepts requests.', {
  status: word(['ready'], 'Always ready.'),
  workspaces: Type.Optional(word(['degraded'], 'degraded: a workspace cannot be used.')),
  history: Type.Optional(word(['degraded'], 'degraded: the last change could not be written to the history.')),
  audit: Type.Optional(word(['degraded'], 'degraded: the last line could not be written to the audit file.'))
})
