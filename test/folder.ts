// The folder of a test. Does not know any test.
import type { Test } from 'tap'

/**
 * As `t.testdir`, but removed after everything that the test tears down: tap removes it first where no teardown was
 * registered before, so while servers that the test stops still write to it.
 */
export function testFolder(t: Test, files: Parameters<Test['testdir']>[0] = {}): string {
  t.teardown(() => {})
  return t.testdir(files)
}
