// Claude edits files with Anthropic's own text editor tool; editd carries its calls out. Needs @anthropic-ai/sdk.
//
// ANTHROPIC_API_KEY=… ANTHROPIC_MODEL=… EDITD_URL=http://127.0.0.1:7333 EDITD_TOKEN=… \
// node examples/adapters/anthropic-text-editor.ts 'In app.js, change the port to 9090.'
import Anthropic from '@anthropic-ai/sdk'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'

const { ANTHROPIC_MODEL = '', EDITD_URL, EDITD_TOKEN } = process.env

const textEditor = {
  type: 'text_editor_20250728' as const,
  name: 'str_replace_based_edit_tool' as const,
  parse: (input: unknown) => input,
  async run(input: unknown): Promise<string> {
    const answer = await fetch(`${EDITD_URL}/adapters/anthropic-text-editor`, {
      method: 'POST',
      headers: { authorization: `Bearer ${EDITD_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(input)
    })
    const { output, is_error, detail } = (await answer.json()) as {
      output?: string
      is_error?: boolean
      detail?: string
    }
    if (output === undefined) throw new Error(detail)
    if (is_error) throw new ToolError(output)
    return output
  }
}

const message = await new Anthropic().beta.messages.toolRunner({
  model: ANTHROPIC_MODEL,
  max_tokens: 4096,
  max_iterations: 30,
  tools: [textEditor],
  messages: [{ role: 'user', content: process.argv[2] ?? 'What is in the workspace?' }]
})
console.log(message.content.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n'))
