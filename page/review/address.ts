// The address of what is shown: after the # of the URL, which no browser sends. Reload, Back and a link for somebody
// else show the same. It never has the token. Does not know how anything is shown.
import type { Shown as ShownEdits, View } from './model.ts'

export interface Address {
  show: ShownEdits
  text: string
  side: boolean
  spaces: boolean
  file?: {
    path: string
    view: View
    /** The edit after which the file is shown. */
    at?: string
    /** The session in whose list it was selected. */
    row?: string
  }
  /** The key of the hunk that is read. */
  hunk?: string
}

const SHOWS: readonly ShownEdits[] = ['pending', 'undone', 'kept', 'all']
const VIEWS: readonly View[] = ['pending', 'edits', 'file']

/** What the part of a URL after the # says; what it doesn't say, or says wrongly, is as at first. */
export function addressIn(hash: string): Address {
  const fields = new URLSearchParams(hash.replace(/^#/, ''))
  const get = (name: string) => fields.get(name) ?? undefined
  const path = get('file')
  return {
    show: SHOWS.find(show => show === get('show')) ?? 'pending',
    text: get('filter') ?? '',
    side: get('side') === 'on',
    spaces: get('spaces') !== 'off',
    file:
      path === undefined
        ? undefined
        : {
            path,
            view: VIEWS.find(view => view === get('view')) ?? 'pending',
            at: get('at'),
            row: get('group')
          },
    hunk: get('hunk')
  }
}

/** That part of the URL, without the #; empty for what is shown at first. */
export function hashOf({ show, text, side, spaces, file, hunk }: Address): string {
  const { path, view, at, row } = file ?? {}
  const fields = {
    show: show === 'pending' ? undefined : show,
    filter: text === '' ? undefined : text,
    file: path,
    view: view === 'pending' ? undefined : view,
    at,
    group: row,
    hunk: path === undefined ? undefined : hunk,
    side: side ? 'on' : undefined,
    spaces: spaces ? undefined : 'off'
  }
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return new URLSearchParams(given).toString()
}
