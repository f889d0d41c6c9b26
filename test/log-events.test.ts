// docs/operators.md lists exactly the events that the log may have.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const TOP = fileURLToPath(new URL('..', import.meta.url))
/** Whose events are what it sends to clients. */
const STREAMS = 'http/event-streams.ts'

t.test('has a line in the document for each event', async t => {
  const source = join(TOP, 'src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => /\.ts$/.test(name))
  const texts = files.filter(name => name !== STREAMS).map(name => readFileSync(join(source, name), 'utf8'))
  const reported = texts.flatMap(text => [...text.matchAll(/\bevent: '(\w+)'/g)].map(([, event]) => event!))
  const [, table = ''] =
    /\n\| `event` \| means \|\n([^]*?)\n\n/.exec(readFileSync(join(TOP, 'docs/operators.md'), 'utf8')) ?? []
  const listed = table
    .split('\n')
    .slice(1)
    .flatMap(line => [...line.split(' | ')[0]!.matchAll(/`(\w+)`/g)].map(([, event]) => event!))
  t.strictSame(
    [...new Set(reported)].filter(event => !listed.includes(event)),
    [],
    'not listed'
  )
  const all = texts.join('')
  t.strictSame(
    listed.filter(event => !all.includes(`'${event}'`)),
    [],
    'listed, and never logged'
  )
})
