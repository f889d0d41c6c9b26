// The cases of the corpus kit: texts that models misremembered, and the places in a file that they meant. Does not know
// any bench.
import { readFileSync } from 'node:fs'

/** Bytes with an exclusive end. `alts`: duplicates that are equally right. */
export interface Case extends Range {
  id: string
  cls: string
  kind: 'lines' | 'sub' | 'none'
  file: string
  old_text: string
  alts?: Range[]
}
export interface Range {
  start_byte: number
  end_byte: number
}

const KINDS: readonly string[] = ['lines', 'sub', 'none'] satisfies Case['kind'][]

/**
 * The cases in the list that the command line names; throws without a list. Cases of an edit that is sent again are
 * left out, since they aren't misses.
 */
export function casesIn(list: string | undefined): Case[] {
  if (list === undefined) throw new Error('Name the cases.jsonl that the corpus kit has made.')
  return readFileSync(list, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Case)
    .filter(({ kind }) => KINDS.includes(kind))
}
