// A scripted agent: it takes a problem, does exactly what its first fix says, and sends the edit again. Does not know
// the file.
import type { Problem, SuggestedFix } from '../schemas/problem.ts'

/** Sends a body to a route. */
export type Call = (
  route: string,
  body: Record<string, unknown>
) => Promise<{ status: number; body: Record<string, unknown> }>

/** What the agent wants to change. */
export interface Intent {
  path: string
  /** The edit that failed. */
  edit: Record<string, unknown>
  /** What the text of a place in the file should become, once the agent has seen it. */
  wanted: (content: string) => string
}

/** A change that fits any text: it puts a mark at its end. */
export const marked = (content: string): string => content.replace(/\s*$/, blank => ` @@EDITED@@${blank}`)

/** A text without the white space at the end of its lines, for comparisons that ignore it. */
export const withoutTrailingSpace = (text: string): string => text.replace(/[^\S\n]+$/gm, '')

/**
 * What the second request was made from: a complete edit of the fix, its old_text and the agent's own new_text, lines
 * that the agent read, or nothing.
 */
export type FixKind = 'complete' | 'own_new_text' | 'read' | 'nothing'

/** The edit that the first fix asks for. */
export async function followFirstFix(
  call: Call,
  problem: Problem,
  { path, edit, wanted }: Intent
): Promise<{ how: FixKind; edit: Record<string, unknown> }> {
  const [fix] = problem.suggested_fixes ?? []
  if (fix === undefined) return { how: 'nothing', edit }
  if (fix.edit === undefined) {
    const content = await read(call, fix)
    return content === undefined
      ? { how: 'nothing', edit }
      : { how: 'read', edit: { old_text: content, new_text: wanted(content) } }
  }
  if (fix.edit.new_text !== undefined) return { how: 'complete', edit: { ...fix.edit } }
  const { old_text = '' } = fix.edit
  // Where old_text has context around the place, only the place itself should change.
  const place =
    fix.type !== 'ADD_CONTEXT'
      ? old_text
      : (problem.similar_content?.map(({ content }) => content).find(content => old_text.includes(content)) ?? old_text)
  return { how: 'own_new_text', edit: { ...fix.edit, new_text: old_text.replace(place, () => wanted(place)) } }

  async function read(call: Call, { example = '' }: SuggestedFix): Promise<string | undefined> {
    const request = /^POST (\/inspect) (\{.*\})$/.exec(example)
    if (request === null) return undefined
    const answer = await call(request[1]!, JSON.parse(request[2]!))
    const { content } = answer.body
    return typeof content === 'string' && path === (JSON.parse(request[2]!) as { path: string }).path
      ? content
      : undefined
  }
}
