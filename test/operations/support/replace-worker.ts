// A second process for the tests of /replace: replaces one text by the next in all files, again and again, until it is
// killed; prints the number of each. Does not know any test.
import { makeReplace } from '../../../src/operations/replace.ts'
import { Workers } from '../../../src/workers/workers.ts'
import { open } from '../../folder/support/open.ts'
import { Reads } from '../../../src/workspace/reads.ts'

export interface ReplaceOrder {
  root: string
  state: string
  durability: 'full' | 'fast'
  /** How many files there are; each has `n` and the number `from` in one place. */
  files: number
  from: number
}

const { root, state, durability, files, from }: ReplaceOrder = JSON.parse(process.argv[2] ?? '{}')
const workspace = await open({ base: '', root, state }, { lockTimeout: 20_000, history: 'full', durability })
const workers = new Workers()
const replace = makeReplace(
  workspace,
  { limits: { max_edits: 1000, max_file_size: 1e6 }, reads: new Reads(), ...workers },
  workers
)
process.stdout.write('ready\n')
for (let n = from; ; n++) {
  process.stdout.write(`begin ${n}\n`)
  const request = { old_text: `n${n}`, new_text: `n${n + 1}`, whole_word: true, occurrences: files }
  const done = await replace.call(request)
  process.stdout.write(done.ok ? `done ${n}\n` : `failed ${n} ${JSON.stringify(done)}\n`)
  if (!done.ok) break
}
