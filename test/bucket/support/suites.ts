// Runs the tests of a folder served over HTTP as tests of a bucket: the same files, with the same expectations. Which of
// them can't hold in a bucket is said here, and why.
import type { Test } from 'tap'
import { NO_CEPH } from '../../ceph.ts'
import { serveBy } from '../../http/test-server.ts'
import { LONG } from '../../often.ts'
import { serveBucket } from './mirror.ts'

const LINKS = 'a bucket has no links'
const MODES = 'a bucket has no modes'
const ROOT = 'a bucket has no absolute paths'
const BATCH = 'a bucket changes one file at a time'
const DELETE = 'nothing is deleted in a bucket'
const DISK = 'looks at or changes the state folder, or opens it again; a bucket has none'
const ANOTHER = 'starts another server or process on the folder'
const PAST = 'sends requests past what keeps the folder and the bucket the same'
const RATE = 'more requests for one file at once than a store answers within the lock timeout'

/** By suite and test: why it is left out. Everything else holds. */
const LEFT_OUT: Record<string, Record<string, string>> = {
  operations: {
    'follows links': LINKS,
    'keeps to the modes of files': MODES,
    'takes an absolute path below the root': ROOT
  },
  section: { 'follows links to documents': LINKS },
  inspect: { 'reports the facts of what a link leads to': LINKS, 'lists links as what they are': LINKS },
  create: { 'makes nothing through a broken link': LINKS, 'lets one of a hundred make a name': RATE },
  preview: { 'writes nothing outside the workspace either': DISK },
  history: { 'tells texts that are lost from those that were never kept': DISK },
  undo: {
    'undoes several files, or none': BATCH,
    'takes back a creation, and makes it again': DELETE,
    'touches nothing where a link stands, or nothing any more': LINKS,
    'keeps no texts of several files, or of a private one, with the answer under a key': BATCH
  },
  'undo-limits': {
    'changes no more than 100 files at once': BATCH,
    'takes nothing back from below an edit whose texts are not kept': DISK
  },
  'undo-gone': {
    'says of a creation that is undone that it is, and how to bring the file back': DELETE,
    'sends nobody in a circle where another file was made in the place': DELETE,
    'brings a deleted file back where what was made in its place is undone, or with that': DELETE,
    'takes all edits of a session back, of a file too that it made and deleted': DELETE,
    'gives a file that is gone a state in which it was gone': DELETE
  },
  pending: {
    'shows a file that was created, and one that was removed': DELETE,
    'follows links, and shows nothing of what may not be read': LINKS,
    'shows nothing of a protected file that was removed': DISK
  },
  blame: { 'shows a file that was removed as it was': DELETE },
  review: {
    'takes what is selected, in several files': BATCH,
    'keeps a creation, and the removal that takes it back': DELETE,
    'names no file that may not be read now': DISK,
    'takes changes of several edits back, and makes them again': BATCH
  },
  callers: {
    'takes the client of MCP for the agent over stdio (legacy)': ANOTHER,
    'takes the client of MCP for the agent over stdio (auto)': ANOTHER
  },
  idempotency: { 'gives an answer again with all that was in it': LINKS },
  'kept-answers': {
    'keeps no text of a private file, and gives the answer again without it': DISK,
    'keeps no names of headings or symbols of a private file': DISK,
    'says so where the answer under a key was forgotten': DISK,
    'gives no answer again that names a file which is protected by now, and does nothing': BATCH
  },
  'requests/field-aliases': { 'goes by the operation in /preview': LINKS },
  'adapters/text-editor': {
    'keeps memories in a folder of the workspace': DELETE,
    "refuses in the sentences of the vendor's memory tool": DELETE,
    'keeps all of 50 edits of one memory at the same time': RATE,
    'says of an undo by which a file is gone where it was, and takes a whole move back': DELETE
  },
  'adapters/apply-patch': {
    "carries out OpenAI's calls": DELETE,
    'refuses with a diff that then applies': DELETE,
    "applies codex's patches, all files or none": BATCH,
    'says so where the files are as the patch has them': BATCH,
    'takes a patch as text, in a heredoc, and with other line breaks': PAST,
    'says where a patch is none': BATCH
  }
}

/**
 * `tap`: the tests of a process that runs nothing else; `load`: imports suites, by the names of their files in
 * test/http. One Ceph serves all of them, with a prefix for each test.
 */
export function runInBucket(tap: Test, suites: readonly string[], load: (suite: string) => Promise<unknown>): void {
  serveBy(serveBucket(tap))
  const run = tap.test.bind(tap) as (name: string, ...more: unknown[]) => unknown
  let leftOut: Record<string, string> = {}
  const found = new Set<string>()
  const runUnlessLeftOut = (name: string, ...more: unknown[]): unknown => {
    found.add(name)
    return leftOut[name] === undefined ? run(name, ...more) : run(name, { skip: leftOut[name] })
  }
  // What the suites call.
  tap.test = runUnlessLeftOut as typeof tap.test
  // Until it ends, none of the others begins: with nothing to run between two suites, tap would take this for the end.
  const skip = NO_CEPH || (!LONG && 'runs with LONG=1: it asks again what test/http has asked of a folder')
  run('finds the suites, and in them what is left out', { skip, timeout: 200_000 }, async (t: Test) => {
    for (const suite of suites) {
      leftOut = LEFT_OUT[suite] ?? {}
      found.clear()
      await load(suite)
      t.ok(found.size > 0, suite)
      t.strictSame(
        Object.keys(leftOut).filter(name => !found.has(name)),
        [],
        suite
      )
    }
  })
}
