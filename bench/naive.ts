// The naive variant, as most tools do it: strings, promises, jsdiff. Shows what the engine gains, and checks its
// results.
import { createTwoFilesPatch } from 'diff'
import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Edit } from './corpora.ts'

export function naiveReplace(text: string, edits: readonly Edit[]): string {
  for (const { old_text, new_text } of edits) {
    const at = text.indexOf(old_text)
    if (at === -1 || text.indexOf(old_text, at + 1) !== -1) throw new Error('not exactly one match')
    text = text.slice(0, at) + new_text + text.slice(at + old_text.length)
  }
  return text
}

export async function naiveEdit(path: string, edits: readonly Edit[], diff: boolean): Promise<object> {
  const before = await readFile(path, 'utf8')
  const hash_before = sha256(before)
  const after = naiveReplace(before, edits)
  const answer = {
    hash_before,
    file_hash: sha256(after),
    diff: diff ? createTwoFilesPatch(path, path, before, after) : ''
  }
  await writeFile(`${path}.tmp`, after)
  await rename(`${path}.tmp`, path)
  return answer
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Buffers instead of strings, and only replacing: the cost without a plan for many edits. */
export function concatReplace(bytes: Buffer, edits: readonly Edit[]): Buffer {
  for (const { old_text, new_text } of edits) {
    const old = Buffer.from(old_text)
    const at = bytes.indexOf(old)
    if (at === -1 || bytes.indexOf(old, at + 1) !== -1) throw new Error('not exactly one match')
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(new_text), bytes.subarray(at + old.length)])
  }
  return bytes
}
