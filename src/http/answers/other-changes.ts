// How sentences name what others have changed in a file.
import type { OtherChanges } from '../../workspace/failure.ts'
import { cut, placed } from './phrases.ts'

/** The most changes that a sentence names. */
const NAMED = 3

/** `bob at lines 10 to 12; another program before line 3; 2 more`; empty if there are none. */
export function othersNamed({ others, more_others = 0 }: OtherChanges): string {
  const named = others.slice(0, NAMED).map(({ agent, outside, start_line, end_line = 0 }) => {
    const who = outside === true ? 'another program' : agent === undefined ? 'another caller' : cut(agent, 80)
    return start_line === undefined ? who : `${who} ${placed([start_line, end_line])}`
  })
  const more = others.length - named.length + more_others
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join('; ')
}
