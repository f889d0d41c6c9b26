// Runs tests of a folder over HTTP against a bucket, with the same files and expectations. This file selects the tests
// that use the store in different ways. Refusals before a file is read, the texts of answers and the engine's plans
// don't depend on the store, and test/http covers them.
import type { Test } from 'tap'
import { NO_CEPH } from '../../ceph.ts'
import { serveBy } from '../../http/test-server.ts'
import { ONLY_LONG } from '../../often.ts'
import { serveBucket } from './mirror.ts'

/** The names of tests by suite, the name of a file in test/http. */
const REACH_THE_STORE = {
  // Read an object, and write it conditionally.
  operations: [
    'edits, and says what changed',
    'makes many edits, or none',
    'compares hashes, by body or by header',
    'says what can not be edited, and why',
    'distinguishes a file that is busy from one that changed',
    'reports its capabilities'
  ],
  create: [
    'makes files, and the folders that they need',
    'writes nothing in a dry run',
    'replaces only what the caller knows',
    'refuses what can not be made'
  ],
  preview: ['agrees with the real call, whatever is asked for'],
  // Read ranges of an object, and list keys below a prefix.
  inspect: [
    'shows windows of lines',
    'reports the facts of a file',
    'reads a file from its start, as much as a host passes on',
    'reads a window of a large file',
    'finds text',
    'lists directories, a page at a time',
    'reads no file to search or outline while as many as may wait already do'
  ],
  // Write objects of logs, read on, and wait for them.
  changes: [
    'tells what is changed after a cursor, of the edits and undos of all',
    'waits until something is changed, or in vain',
    'tells verdicts',
    'tells nothing of files that may not be read now, nor what changed nothing',
    'refuses what is no cursor, and says when one is gone',
    'answers at once what waits when the server stops',
    'ends the wait of a client that has gone, also of one that goes before it begins'
  ],
  // An idempotency key is a lease on an object.
  idempotency: [
    'carries every change out once',
    'keeps what changed nothing, and no problem',
    'carries requests that come at once out once',
    'knows a key on every server, and after they have ended'
  ],
  // Texts are separate objects; another program's writes have no record.
  history: ['shows no more than 8 MiB of texts at once, and says how to get the others'],
  undo: [
    'takes back the edit of one agent among three, and nothing else',
    'refuses to take away what a later edit stands on, with fixes that work',
    'takes the last edit of the caller, and makes the last undo again',
    'brings a file to the state after an edit',
    'keeps bytes that are not UTF-8, and line breaks as they are',
    'lists edits by what is asked for, with diffs that apply',
    'can take back nothing whose texts are not kept',
    'undoes once under one key'
  ],
  'undo-limits': [
    'keeps an edit of very many places as fewer changes, of near ones together, and takes them back',
    'makes no file larger than files may be, and then changes no other file either'
  ],
  pending: [
    'shows what all agents did together, and whose each line is',
    'shows what another program did, before and after there is an edit of it',
    'reaches back no further than what is known, and says so',
    'says so where no history is kept, or it does not fit the file'
  ],
  blame: [
    'says who wrote each line, now and after each edit',
    'reaches back no further than what is known',
    'says of which lines another program wrote bytes'
  ],
  review: [
    'keeps an edit, and finds it pending again when somebody takes it back',
    'keeps a part of an edit, as it stands',
    'keeps what an undo or another program did by the changes that these were of',
    'is carried out once under a key',
    'is one verdict for all servers, also after a restart',
    'writes nothing where one of the edits is not known',
    'reviews as a whole what was kept without texts'
  ]
} as const

/**
 * `tap`: the tests of a process that runs nothing else; `load`: imports a suite. One bucket serves all of them, with a
 * prefix for each test.
 */
export function runInBucket(
  tap: Test,
  suites: readonly (keyof typeof REACH_THE_STORE)[],
  load: (suite: string) => Promise<unknown>
): void {
  serveBy(serveBucket(tap))
  const run = tap.test.bind(tap) as (name: string, ...more: unknown[]) => unknown
  let wanted = new Set<string>()
  // The functions of tap that the suites call.
  tap.test = ((name: string, ...more: unknown[]) => wanted.delete(name) && run(name, ...more)) as typeof tap.test
  // The others start when it ends: if nothing ran between two suites, tap would take that for the end of all.
  // Only in .ci/long: test/http runs these tests against a folder.
  const skip = NO_CEPH || ONLY_LONG
  run('finds the tests of each suite that reach the store', { skip, timeout: 200_000 }, async (t: Test) => {
    for (const suite of suites) {
      wanted = new Set(REACH_THE_STORE[suite])
      await load(suite)
      t.strictSame([...wanted], [], suite)
    }
  })
}
