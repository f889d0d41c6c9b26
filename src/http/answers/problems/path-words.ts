// What is wrong with the text of a path, in words. Does not know problems.
import type { FileFailure } from '../../../workspace/failure.ts'
import type { OddPath } from '../../../workspace/odd-name.ts'
import { type CallSyntax, pathsShown } from '../call-names.ts'
import { quote } from '../phrases.ts'

type InvalidPath = Extract<FileFailure, { code: 'INVALID_PATH' }>

/** Whether it is the name of a new file that is probably a mistake. */
export const isOdd = (failure: InvalidPath): failure is InvalidPath & OddPath => failure.reason in WHY_ODD

export const WHY_ODD: Record<OddPath['reason'], string> = {
  control: 'has a line break or another control character, which no path here may have',
  spaces: 'begins or ends with white space',
  quoted: 'is in quotes or backticks, which would be part of the name',
  url: 'is a URL',
  home: 'begins with ~, which does not stand for a home directory here',
  drive: 'begins with the drive of a Windows path',
  encoded: 'is percent-encoded, as in a URL',
  backslash: 'has backslashes, which do not separate directories here'
}

/** What is wrong with a path that can't be used at all. */
export const WHY_INVALID: Record<Exclude<InvalidPath, OddPath>['reason'], string> = {
  empty: 'is empty',
  nul: 'contains a NUL character',
  too_long: 'is too long, or one of its names is',
  not_utf8: 'has a name that is not UTF-8, so that no request can name it'
}

/** What is wrong with the new path of a move, and what to send. */
export function whyNoPath(failure: InvalidPath, naming: CallSyntax): string {
  if (!isOdd(failure)) return `${WHY_INVALID[failure.reason]}; send another one`
  const [meant] = pathsShown(naming, failure.meant === undefined ? [] : [failure.meant])
  return `${WHY_ODD[failure.reason]}; send ${meant === undefined ? 'another one' : quote(meant)}`
}

/** What is wrong with a path, and how to send it if it is intended. */
export const oddWords = ({ reason }: OddPath, naming: CallSyntax): { why: string; literal: string } => ({
  why: `path ${WHY_ODD[reason]}`,
  literal:
    reason !== 'control' && naming.takes('literal_path')
      ? 'If the name is meant as it is, send it again with literal_path: true.'
      : ''
})
