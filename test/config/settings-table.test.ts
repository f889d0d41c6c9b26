// The table of docs/settings.md is the table of settings in src/config/config.ts; with DOCS=write it is written there.
// Does not know what a setting does.
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { settingRows } from '../../src/config/config.ts'
import { checkMarked } from '../marked.ts'

const DOCUMENT = fileURLToPath(new URL('../../docs/settings.md', import.meta.url))

/** Text for a cell of a Markdown table, where none of it is markup. */
const cell = (text: string) => text.replaceAll(/[|*_~$<]/g, '\\$&')
/** A default that can be typed as it stands, or words about it. */
const shownDefault = (text: string) => (/^(off|none|all)$|\s/.test(text) ? cell(text) : `\`${text}\``)

const table = () =>
  [
    '| Flag | Environment variable | Default | Meaning |',
    '|---|---|---|---|',
    ...settingRows().map(
      row => `| \`${row.flag}\` | \`${row.environment}\` | ${shownDefault(row.default)} | ${cell(row.meaning)} |`
    ),
    ''
  ].join('\n')

t.test('docs/settings.md has the table of settings', async t => checkMarked(t, DOCUMENT, 'settings', table()))
