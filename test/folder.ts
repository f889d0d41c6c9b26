// Makes the folder of a test. Does not know any test.
import type { Test } from 'tap'

/**
 * Like `t.testdir`, but the folder is removed after all teardowns of the test. tap may remove it before them, while
 * servers that the test is about to stop still write to it.
 */
export function testFolder(t: Test, files: Parameters<Test['testdir']>[0] = {}): string {
  t.teardown(() => {})
  return t.testdir(files)
}
