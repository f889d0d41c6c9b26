// The outline of a file for an operation: by its language, off the event loop. Does not know any request.
import type { UnsupportedTarget } from '../engine/failure.ts'
import { languageOf } from '../engine/inspect/language.ts'
import { isOutlined, OUTLINED } from '../engine/outline/outlined.ts'
import type { Lines, Outline } from '../engine/outline/outline.ts'
import type { Outliner } from '../workers/outline.ts'
import { fail, type Result } from '../result.ts'

/**
 * The outline of a file of this name. `code`: whether symbols are asked for, `document`: sections and code blocks, else
 * either; `strings_in`: of which lines of code to say whether they begin inside a string. Fails
 * where it has none of these, or could not be parsed within the limits.
 */
export async function outlineOf(
  outliner: Outliner,
  path: string,
  bytes: Buffer,
  wanted?: Outline['type'],
  strings_in?: Lines
): Promise<Result<Outline, UnsupportedTarget>> {
  const language = languageOf(path, bytes)
  const about = {
    code: 'UNSUPPORTED_TARGET' as const,
    languages: OUTLINED,
    ...(language !== undefined && { language })
  }
  if (wanted === 'document' && language !== 'markdown') return fail({ ...about, reason: 'not_markdown' })
  if (!isOutlined(language) || (wanted === 'code' && language === 'markdown')) {
    return fail({ ...about, reason: 'no_grammar' })
  }
  const outline = await outliner.outline(bytes, language, strings_in)
  return outline.ok ? outline : fail({ ...about, ...outline.failure })
}
