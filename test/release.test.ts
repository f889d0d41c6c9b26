// What a release says about itself: its version in every file that has it, and how it is published.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

const HOME = join(import.meta.dirname, '..')
const textOf = (path: string) => readFileSync(join(HOME, path), 'utf8')

interface Package {
  version: string
  private?: boolean
  mcpName: string
  publishConfig: object
}
const manifest = JSON.parse(textOf('package.json')) as Package

t.test('is a public package, with a proof of where it was built', async t => {
  t.notHas(manifest, 'private')
  t.strictSame(manifest.publishConfig, { access: 'public', provenance: true })
})

t.test('is published where it can be proven, with the files that CI has tried', async t => {
  const { permissions, jobs } = parse(textOf('.github/workflows/publish.yml')) as {
    permissions: object
    jobs: { npm: { if: string; steps: { run?: string }[] } }
  }
  t.strictSame(permissions, { contents: 'read', 'id-token': 'write' })
  t.equal(jobs.npm.if, "startsWith(github.ref, 'refs/tags/v')")
  const commands = jobs.npm.steps.flatMap(({ run }) => run ?? [])
  t.strictSame(commands, [
    'npm ci',
    'bash .ci/release --quick "$RUNNER_TEMP/release"',
    'npm publish "$RUNNER_TEMP"/release/editd-*.tgz'
  ])
})

t.test('has one version in every file that has it', async t => {
  const lock = JSON.parse(textOf('package-lock.json')) as Package & { packages: { '': Package } }
  const versions = {
    'package-lock.json': lock.version,
    'its root': lock.packages[''].version,
    Dockerfile: /org\.opencontainers\.image\.version="([^"]*)"/.exec(textOf('Dockerfile'))?.[1],
    'openapi.yaml': /^ {2}version: (.*)$/m.exec(textOf('openapi.yaml'))?.[1]
  }
  for (const [file, version] of Object.entries(versions)) t.equal(version, manifest.version, file)
})

t.test('has a changelog in which the version is the latest', async t => {
  const headings = textOf('CHANGELOG.md').match(/^##+ .*$/gm) ?? []
  const [unreleased, ...versions] = headings.filter(heading => heading.startsWith('## '))
  t.equal(unreleased, '## [Unreleased]')
  t.match(versions[0], `## [${manifest.version}] - `)
  for (const version of versions) t.match(version, /^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/)
  const kinds = new Set(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'].map(kind => `### ${kind}`))
  t.strictSame(
    headings.filter(heading => heading.startsWith('### ') && !kinds.has(heading)),
    []
  )
})
