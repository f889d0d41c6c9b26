"""An agent that edits files: a model behind any OpenAI-compatible endpoint, with editd's tools. Standard library only.

OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=… OPENAI_MODEL=… \\
EDITD_URL=http://127.0.0.1:7333 EDITD_TOKEN=… python3 examples/agent.py 'In app.js, change the port to 9090.'
"""
import json
import sys
from os import environ
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen


def send(url, token, body=None):
    """Status and text of an answer, also if it is a problem."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        with urlopen(Request(url, json.dumps(body).encode() if body else None, headers)) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as problem:
        return problem.code, problem.read().decode()


def editd(path, body=None):
    return send(environ["EDITD_URL"] + path, environ["EDITD_TOKEN"], body)


status, text = editd("/tools?format=openai-chat")
if status != 200:
    sys.exit(text)
tools = json.loads(text)
messages = [
    {"role": "system", "content": "You edit files with your tools. Inspect a file first and send its file_hash as expected_hash. "
                                  "When an edit fails, the answer says why and has the call to send instead."},
    {"role": "user", "content": sys.argv[1]},
]

for turn in range(30):
    status, text = send(environ["OPENAI_BASE_URL"] + "/chat/completions", environ["OPENAI_API_KEY"],
                        {"model": environ["OPENAI_MODEL"], "messages": messages, "tools": tools})
    if status != 200:
        sys.exit(text)
    message = json.loads(text)["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        # Whether success or problem, the text tells the model how to go on.
        status, text = editd(f"/tools/{quote(name)}", {"arguments": arguments})
        print(name, arguments, "→", status, file=sys.stderr)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
