// Runs before `npm test`: builds tap with the plugins of .taprc where that isn't done yet. tap would do so by itself,
// but only for the next run: the first would load everything the slow way. Does not know any test.
import { spawnSync } from 'node:child_process'
// Its classes need each other: this one first.
import '@tapjs/core'
import { importLoaders } from '@tapjs/test'

if (importLoaders.length > 0) {
  process.stderr.write('tap is built with the plugins of .taprc, once …\n')
  process.exitCode = spawnSync('tap', ['build'], { stdio: ['ignore', 'ignore', 'inherit'] }).status ?? 1
}
