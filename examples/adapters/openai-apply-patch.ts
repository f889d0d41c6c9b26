// A model edits files with OpenAI's apply_patch tool; editd carries its calls out. Needs openai.
//
// OPENAI_API_KEY=… OPENAI_MODEL=… EDITD_URL=http://127.0.0.1:7333 EDITD_TOKEN=… \
// node examples/adapters/openai-apply-patch.ts 'In app.js, whose content is …, change the port to 9090.'
import OpenAI from 'openai'

const { OPENAI_MODEL = '', EDITD_URL, EDITD_TOKEN } = process.env
const client = new OpenAI()
const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: process.argv[2] ?? 'Create hello.txt.' }]

for (let turn = 0; turn < 30; turn++) {
  const response = await client.responses.create({ model: OPENAI_MODEL, input, tools: [{ type: 'apply_patch' }] })
  const calls = response.output.filter(item => item.type === 'apply_patch_call')
  if (calls.length === 0) {
    console.log(response.output_text)
    break
  }
  input.push(...calls)
  for (const call of calls) {
    const answer = await fetch(`${EDITD_URL}/adapters/openai-apply-patch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${EDITD_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(call)
    })
    const { status, output, detail } = (await answer.json()) as {
      status: 'completed' | 'failed'
      output?: string
      detail?: string
    }
    if (output === undefined) throw new Error(detail)
    console.error(call.operation.type, call.operation.path, '→', status)
    input.push({ type: 'apply_patch_call_output', call_id: call.call_id, status, output })
  }
}
