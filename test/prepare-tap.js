// Before `npm test`: lets tap build itself with the plugins that .taprc asks for, where it hasn't yet. It would do so
// by itself,
// but only for the run after: the first would load everything the slow way. Does not know any test.
import { spawnSync } from 'node:child_process'
// Its classes need each other: this one first.
import '@tapjs/core'
import { importLoaders } from '@tapjs/test'

if (importLoaders.length > 0) {
  process.stderr.write('tap is built with the plugins of .taprc, once …\n')
  process.exitCode = spawnSync('tap', ['build'], { stdio: ['ignore', 'ignore', 'inherit'] }).status ?? 1
}
