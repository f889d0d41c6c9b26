// An agent without a mind: it takes a problem, does exactly what its first fix says, and sends the edit again. Does not
// know
// file.
import type { Problem, SuggestedFix } from '../schemas/problem.ts'

/** Sends a body to a route. */
export type Call = (
  route: string,
  body: Record<string, unknown>
) => Promise<{ status: number; body: Record<string, unknown> }>

/** An edit, and what the agent wants a text to be, once it has seen what is there. */
export interface Wish {
  path: string
  edit: Record<string, unknown>
  /** Of the text of a place: what is to stand there instead. */
  wanted: (content: string) => string
}

/** A wish that any text can bear: its end gets a mark. */
export const marked = (content: string): string => content.replace(/\s*$/, blank => ` @@EDITED@@${blank}`)

/** A text without the white space at the end of its lines, which isn't what the agent was after. */
export const withoutEnds = (text: string): string => text.replace(/[^\S\n]+$/gm, '')

/**
 * How the second request came about: an edit that was complete, one with the agent's own new_text, lines that were
 * read.
 */
export type How = 'complete' | 'own_new_text' | 'read' | 'nothing'

/** The request that the first fix asks for. */
export async function followFirstFix(
  call: Call,
  problem: Problem,
  { path, edit, wanted }: Wish
): Promise<{ how: How; edit: Record<string, unknown> }> {
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
  // Of a text with context around it only the place itself is to change.
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
