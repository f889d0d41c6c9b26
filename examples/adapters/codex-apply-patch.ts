// A model edits files with patches in the format of codex, given to a custom tool; editd applies them, all files or
// none. Needs openai.
//
// OPENAI_API_KEY=… OPENAI_MODEL=… EDITD_URL=http://127.0.0.1:7333 EDITD_TOKEN=… \
// node examples/adapters/codex-apply-patch.ts 'In app.js, whose content is …, change the port to 9090.'
import OpenAI from 'openai'

const { OPENAI_MODEL = '', EDITD_URL, EDITD_TOKEN } = process.env
const client = new OpenAI()
const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: process.argv[2] ?? 'Create hello.txt.' }]
const tools: OpenAI.Responses.Tool[] = [
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files. The input is a patch: *** Begin Patch … *** End Patch'
  }
]

for (let turn = 0; turn < 30; turn++) {
  const response = await client.responses.create({ model: OPENAI_MODEL, input, tools })
  const calls = response.output.filter(item => item.type === 'custom_tool_call')
  if (calls.length === 0) {
    console.log(response.output_text)
    break
  }
  input.push(...calls)
  for (const call of calls) {
    const answer = await fetch(`${EDITD_URL}/adapters/codex-apply-patch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${EDITD_TOKEN}`, 'content-type': 'text/plain' },
      body: call.input
    })
    const { status, output, detail } = (await answer.json()) as { status: string; output?: string; detail?: string }
    if (output === undefined) throw new Error(detail)
    console.error(call.name, '→', status)
    input.push({ type: 'custom_tool_call_output', call_id: call.call_id, output })
  }
}
