// Claude keeps its memory in files that editd edits, so that agents that share them lose nothing. Needs
// @anthropic-ai/sdk.
//
// ANTHROPIC_API_KEY=… ANTHROPIC_MODEL=… EDITD_URL=http://127.0.0.1:7333 EDITD_TOKEN=… \
// node examples/adapters/anthropic-memory.ts 'Remember that the port of the staging server is 9090.'
import Anthropic from '@anthropic-ai/sdk'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'

const { ANTHROPIC_MODEL = '', EDITD_URL, EDITD_TOKEN } = process.env

async function carryOut(command: object): Promise<string> {
  const answer = await fetch(`${EDITD_URL}/adapters/anthropic-memory`, {
    method: 'POST',
    headers: { authorization: `Bearer ${EDITD_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(command)
  })
  const { output, is_error, detail } = (await answer.json()) as { output?: string; is_error?: boolean; detail?: string }
  if (output === undefined) throw new Error(detail)
  if (is_error) throw new ToolError(output)
  return output
}

const memory = betaMemoryTool({
  view: carryOut,
  create: carryOut,
  str_replace: carryOut,
  insert: carryOut,
  delete: carryOut,
  rename: carryOut
})

const message = await new Anthropic().beta.messages.toolRunner({
  model: ANTHROPIC_MODEL,
  max_tokens: 4096,
  max_iterations: 30,
  tools: [memory],
  messages: [{ role: 'user', content: process.argv[2] ?? 'What do you remember?' }]
})
console.log(message.content.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n'))
