// Gets the outline of a file for an operation: finds its language, or says why it has none. Does not know any request.
import type { UnsupportedTarget } from '../engine/failure.ts'
import { languageOf } from '../engine/inspect/language.ts'
import { isOutlined, OUTLINED } from '../engine/outline/outlined.ts'
import type { Outline } from '../engine/outline/outline.ts'
import type { Unparsed } from '../workers/outline.ts'
import { fail, type Result } from '../result.ts'

/**
 * What `look` finds, in a thread, in the outline of a file of this name and language. `wanted`: `code` for symbols,
 * `document` for sections and code blocks, else either. Fails if the file has none of these, or couldn't be parsed
 * within the limits.
 */
export async function outlined<T>(
  path: string,
  bytes: Buffer,
  wanted: Outline['type'] | undefined,
  look: (language: string) => Promise<Result<T, Unparsed>>
): Promise<Result<T, UnsupportedTarget>> {
  const language = languageOf(path, bytes)
  const about = {
    code: 'UNSUPPORTED_TARGET' as const,
    languages: OUTLINED,
    language
  }
  if (wanted === 'document' && language !== 'markdown') return fail({ ...about, reason: 'not_markdown' })
  if (!isOutlined(language) || (wanted === 'code' && language === 'markdown')) {
    return fail({ ...about, reason: 'no_grammar' })
  }
  const found = await look(language)
  return found.ok ? found : fail({ ...about, ...found.failure })
}
