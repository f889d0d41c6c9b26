// Renders the published document for openapi.yaml. Does not open a workspace or listen.
import pino from 'pino'
import { buildApp } from './app.ts'
import { loadConfig } from './config/config.ts'
import { oneSpace } from './spaces.ts'
import type { Workspace } from './workspace/api.ts'

const untouched = (): Promise<never> => Promise.reject(new Error('nothing is opened here'))
const workspace: Workspace = {
  kind: 'folder',
  root: '/',
  confinement: 'proc',
  canFind: true,
  audit: null,
  edit: untouched,
  create: untouched,
  batch: untouched,
  filesBelow: untouched,
  removeFolder: untouched,
  look: untouched,
  find: untouched,
  recall: untouched,
  movedText: untouched,
  history: untouched,
  hasSwept: untouched,
  review: untouched,
  changes: untouched,
  follow: untouched,
  endFollowing: () => {},
  keyed: untouched,
  ready: async () => null,
  degraded: () => false,
  limitedTo: () => workspace,
  close: async () => {}
}

/** The document as YAML, with the default settings. */
export async function openapiYaml(): Promise<string> {
  const config = loadConfig(
    [],
    { HOME: '/' },
    {
      platform: 'linux',
      pid: 1,
      kindOf: () => 'missing',
      realPath: path => path,
      readText: () => ({ ok: false, failure: 'ENOENT' })
    }
  )
  if (!config.ok) throw new Error(config.failure.join(' '))
  const { app, documentYaml } = await buildApp({
    spaces: oneSpace(config.value, workspace, () => {}),
    logger: pino({ level: 'silent' })
  })
  const yaml = await documentYaml()
  await app.close()
  return yaml
}
