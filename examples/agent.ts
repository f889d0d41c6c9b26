// An agent that edits files: a model behind any OpenAI-compatible endpoint, with editd's tools. No dependencies.
//
// OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=… OPENAI_MODEL=… \
// EDITD_URL=http://127.0.0.1:7333 EDITD_TOKEN=… node examples/agent.ts 'In app.js, change the port to 9090.'
//
// Needs Node 22.18 or later; with Node 20, run it with npx tsx.

interface Message {
  role: string
  content: string | null
  tool_call_id?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}
interface Completion {
  choices: [{ message: Message }]
}

const { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL, EDITD_URL, EDITD_TOKEN } = process.env
const editd = (path: string, body?: object) =>
  fetch(EDITD_URL + path, {
    headers: { authorization: `Bearer ${EDITD_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) })
  })

const answered = await editd('/tools?format=openai-chat')
if (!answered.ok) throw new Error(await answered.text())
const tools = await answered.json()
const messages: Message[] = [
  {
    role: 'system',
    content:
      'You edit files with your tools. Inspect a file first and send its file_hash as expected_hash. ' +
      'When an edit fails, the answer says why and has the call to send instead.'
  },
  { role: 'user', content: process.argv[2] ?? 'What is in the workspace?' }
]

for (let turn = 0; turn < 30; turn++) {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPENAI_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: OPENAI_MODEL, messages, tools })
  })
  if (!response.ok) throw new Error(await response.text())
  const {
    choices: [{ message }]
  } = (await response.json()) as Completion
  messages.push(message)
  if (!message.tool_calls?.length) {
    console.log(message.content)
    break
  }
  for (const { id, function: call } of message.tool_calls) {
    // For a success and for a problem, the text tells the model how to go on.
    const answer = await editd(`/tools/${encodeURIComponent(call.name)}`, { arguments: call.arguments })
    console.error(call.name, call.arguments, '→', answer.status)
    messages.push({ role: 'tool', tool_call_id: id, content: await answer.text() })
  }
}
