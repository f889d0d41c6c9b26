// What is said of text that the encoding of a file can't hold. Does not know statuses.
import type { UnencodableText } from '../../engine/failure.ts'
import type { Descriptions } from './problems/entry.ts'
import { NOTHING_WRITTEN, sentences, encodingShown, quote } from './phrases.ts'

export const ENCODING_FAILURES: Descriptions<UnencodableText> = {
  UNENCODABLE_TEXT: (failure, { shown }) => ({
    detail:
      failure.mark === undefined
        ? sentences(
            ...whyNot(failure.encoding, failure.character, shown),
            NOTHING_WRITTEN,
            ...instead(failure.character)
          )
        : sentences(
            `${shown} is ${encodingShown(failure.encoding)}, and this edit would let it begin with the bytes`,
            `${failure.mark === 'utf-16le' ? 'FF FE' : 'FE FF'}, which mark a file as ${encodingShown(failure.mark)}.`,
            NOTHING_WRITTEN,
            'Let it begin with something else, or convert the file to UTF-8 first with another tool.'
          )
  })
}

function whyNot(encoding: string, character: string, shown: string): string[] {
  if (character === '\ufeff') {
    return [
      `${shown} is ${encodingShown(encoding)}, which is known by its byte-order mark, and this edit removes that.`
    ]
  }
  return encoding === 'unknown-8bit'
    ? [`${shown} is not UTF-8, and its encoding is not known, so ${quote(character)} can't be written into it.`]
    : [`${shown} seems to be ${encodingShown(encoding)}, which has no ${quote(character)}.`]
}

const instead = (character: string): string[] =>
  character === '\ufeff'
    ? ['Leave the mark where it is.']
    : [
        'Write it in ASCII (in source code an escape such as \\u00e9),',
        'or convert the file to UTF-8 first with another tool.'
      ]
