// How many tokens the definitions of tools take: a model's host sends them with every request. Counted with what
// .ci/tools installs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from './test-server.ts'

const TOKENIZER = join(import.meta.dirname, '../../.ci/tools/node_modules/gpt-tokenizer/esm/encoding/o200k_base.js')

/** By the query of /tools. The strict form of OpenAI spells out null for every field. */
const MOST = {
  '': 2100,
  '?format=openai-chat': 2100,
  '?format=anthropic': 2100,
  '?format=anthropic&strict=true': 2100,
  '?format=gemini': 2100,
  '?format=bedrock': 2100,
  '?strict=true': 2650
}
const MOST_MCP = 2500
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

t.test(
  'keeps the definitions of the tools small',
  { skip: !existsSync(TOKENIZER) && '.ci/tools is not installed, or without gpt-tokenizer' },
  async t => {
    const { countTokens } = (await import(TOKENIZER)) as { countTokens: (text: string) => number }
    t.equal(countTokens('const port = 8080'), 6)
    const server = await startServer(t)
    const check = (what: string, text: string, most: number) => {
      const tokens = countTokens(text)
      t.ok(tokens > 1000 && tokens <= most, `${what}: ${tokens} of ${most} tokens`)
    }
    for (const [query, most] of Object.entries(MOST)) {
      check(`/tools${query}`, (await server.call('GET', `/tools${query}`)).text, most)
    }
    const headers = { accept: 'application/json, text/event-stream' }
    check('tools/list', (await server.call('POST', '/mcp', { body: LIST, headers })).text, MOST_MCP)
  }
)
