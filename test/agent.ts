// A scripted agent: takes the text that a model gets after a miss, does exactly what its first call says, and sends the
// edit again. Does not know the file.

/** Sends a body to a route. */
export type Call = (
  route: string,
  body: Record<string, unknown>
) => Promise<{ status: number; body: Record<string, unknown>; text: string }>

/** What the agent wants to change. */
export interface Intent {
  path: string
  /** The edit that failed. */
  edit: Record<string, unknown>
  /** What the text of a place in the file should become, once the agent has seen it. */
  wanted: (content: string) => string
}

/** An edit as some hosts and models send it: what they write as strings, and what they add. `list`: as a list. */
export function asSent(edit: Record<string, unknown>, n: number, list = false): Record<string, unknown> {
  const { path, old_text, new_text, occurrence } = edit
  const whole = list ? { path, edits: JSON.stringify([{ old_text, new_text, occurrence }]) } : edit
  if (n % 3 === 1) return { ...whole, dry_run: 'false', context_lines: '3' }
  return n % 3 === 2 ? { ...edit, toolCallId: 'call_1', chatInput: 'edit it', _meta: {} } : edit
}

/** Takes back what an answer reports, by the id in its text. */
export async function takeBack(call: Call, text: string): Promise<boolean> {
  const edit_id = /\bedit_id: (\w+)/.exec(text)?.[1]
  return edit_id !== undefined && (await call('/tools/undo_edit', { edit_id })).status === 200
}

/** A change that fits any text: puts a mark at its end. */
export const marked = (content: string): string => content.replace(/\s*$/, blank => ` @@EDITED@@${blank}`)

/** A text without the white space at the end of its lines, for comparisons that ignore it. */
export const withoutTrailingSpace = (text: string): string => text.replace(/[^\S\n]+$/gm, '')

/**
 * The source of the second request: a complete call, a call's old_text with the agent's own new_text, lines that the
 * agent read or was shown, or nothing.
 */
export type FixKind = 'complete' | 'own_new_text' | 'read' | 'nothing'

/** The arguments of the call that the text asks for first. */
export async function followFirstCall(
  call: Call,
  text: string,
  { path, edit, wanted }: Intent
): Promise<{ how: FixKind; edit: Record<string, unknown> }> {
  const lines = text.split('\n')
  const line = lines.find(each => each.startsWith('{'))
  const withContent = (content: string) => ({
    how: 'read' as const,
    edit: { path, old_text: content, new_text: wanted(content) }
  })
  if (line === undefined) {
    // The places are listed, and the agent knows which one it means; here it takes any.
    if (/send "occurrence": a number from 1/.test(text)) {
      return { how: 'complete', edit: { path, ...edit, new_text: wanted(String(edit.old_text)), occurrence: 1 } }
    }
    const shown = lines.flatMap(each => /^\d+\t(.*)$/.exec(each)?.[1] ?? [])
    return shown.length === 0 ? { how: 'nothing', edit: { path, ...edit } } : withContent(shown.join('\n'))
  }
  const proposed = JSON.parse(line) as Record<string, unknown>
  if (proposed.name === 'inspect_file') {
    const { content } = (await call('/inspect', proposed.arguments as Record<string, unknown>)).body
    return withContent(String(content))
  }
  if (proposed.new_text !== undefined) return { how: 'complete', edit: proposed }
  return { how: 'own_new_text', edit: { ...proposed, new_text: wanted(String(proposed.old_text)) } }
}
