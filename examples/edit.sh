#!/usr/bin/env bash
# Replaces text in a file from a script: reads the file's hash, edits that version, and after a near miss sends the
# suggested text instead. Needs curl and jq.
#
#   EDITD_URL=http://127.0.0.1:7333 EDITD_TOKEN=… examples/edit.sh app.js 'const port  = 8080' 'const port = 9090'
set -euo pipefail
path=$1 old=$2 new=$3

call () { curl -sS "$EDITD_URL$1" -H "Authorization: Bearer $EDITD_TOKEN" -H 'Content-Type: application/json' -d @-; }

hash=$(jq -n --arg path "$path" '{$path, facts: true}' | call /inspect | jq -r '.file_hash // error(.detail)')
request=$(jq -n --arg path "$path" --arg expected_hash "$hash" --arg old_text "$old" --arg new_text "$new" '{$path, $expected_hash, $old_text, $new_text}')
answer=$(call /edit <<<"$request")

if [ "$(jq -r .code <<<"$answer")" = NO_MATCH ]; then
  jq -r .detail <<<"$answer" >&2
  fix=$(jq 'first(.suggested_fixes[]? | select(.type == "USE_EXACT_TEXT") | .edit) // {}' <<<"$answer")
  answer=$(jq --argjson fix "$fix" '. + $fix' <<<"$request" | call /edit)
fi
jq -r '.message // error(.detail)' <<<"$answer"
