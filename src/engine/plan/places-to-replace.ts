// Where a text would be replaced by /replace, without planning it. Does not know files.
import type { TextEdit } from '../edit/request.ts'
import { repeatedAmong } from '../explain/already-applied.ts'
import { locate, type Match, Needle } from '../match/locate.ts'
import { breakStyleOf } from '../text/eol.ts'
import { Text } from '../text/text.ts'
import { MAX_REPLACEMENTS } from './replace-text.ts'

/**
 * The places that `planTextEdits` replaces with `replace_all`, from left to right; one more than it may replace, if
 * there are more. `repeated`: how many of them have new_text, which holds old_text and more, around them already.
 */
export function placesToReplace(
  bytes: Buffer,
  edit: Pick<TextEdit, 'old_text' | 'new_text' | 'whole_word'>
): { places: Match[]; repeated: number } {
  const text = new Text([bytes])
  const { ending } = breakStyleOf(bytes)
  const { matches } = locate(text, new Needle(edit.old_text, edit.whole_word), 'adapt', ending)
  const places = matches.slice(0, MAX_REPLACEMENTS + 1)
  return { places, repeated: places.length === 0 ? 0 : repeatedAmong(text, edit, places, ending) }
}
