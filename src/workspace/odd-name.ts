// Names of new files that were probably not meant as they were sent, as nobody would look for the file under them.
// Judges the text alone; does not know what is there.

/** What is odd about a path. */
type OddName = 'control' | 'spaces' | 'quoted' | 'url' | 'home' | 'drive' | 'encoded' | 'backslash'

/** `meant`: the path most likely meant, without anything odd; absent if that can't be determined. */
export interface OddPath {
  reason: OddName
  meant?: string
}

const CONTROL = /[\p{Cc}\u2028\u2029]/u

/** What is odd, its test, and the path that it most likely means; null: that can't be determined. */
const READINGS: readonly [reason: OddName, test: RegExp, meant: (path: string) => string | null][] = [
  ['control', CONTROL, path => (CONTROL.test(path.trim()) ? null : path.trim())],
  ['spaces', /^\s|\s$/, path => path.trim()],
  ['quoted', /^(["'`]).*\1$/s, path => path.slice(1, -1)],
  ['url', /^file:/i, path => path.replace(/^file:(?:\/\/localhost)?(?:\/+(?=\/))?/i, '').replace(/^\/([^/]+)$/, '$1')],
  ['home', /^~\//, path => path.slice(2)],
  // With a longer path, there's no telling which part of it is the workspace.
  ['drive', /^[a-z]:[\\/]/i, path => (/[\\/]/.test(path.slice(3)) ? null : path.slice(3))],
  ['encoded', /%[0-9a-f]{2}/i, decodedUri],
  ['backslash', /\\/, path => path.replaceAll('\\', '/')]
]

function decodedUri(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

/** What is odd about a path, or one name of it; null: nothing. */
function oddPath(path: string): OddPath | null {
  let odd: OddName | undefined
  let meant = path
  for (let left = READINGS.length; left > 0; left--) {
    const found = READINGS.find(([, test]) => test.test(meant))
    if (found === undefined) break
    const [reason, , reading] = found
    odd ??= reason
    const next = reading(meant)
    // A `%` sequence that doesn't decode is meant literally.
    if (next === null && reason === 'encoded' && odd === reason) return null
    if (next === null || next === '') return { reason: odd }
    meant = next
  }
  return odd === undefined ? null : { reason: odd, meant }
}

/**
 * Why a new file's path is refused; null: it isn't. Existing folders may have any names: if the file's own folder
 * exists (`in_folder`), only the last name is judged.
 */
export function refusalOfName(
  { path, name }: { path: string; name?: 'literal' | 'known' },
  in_folder: boolean
): ({ code: 'INVALID_PATH' } & OddPath) | null {
  if (name === 'known') return null
  const cut = in_folder ? path.lastIndexOf('/') + 1 : 0
  const odd = oddPath(path.slice(cut))
  if (odd === null || (name === 'literal' && odd.reason !== 'control')) return null
  const { reason, meant } = odd
  return { code: 'INVALID_PATH', reason, ...(meant !== undefined && { meant: path.slice(0, cut) + meant }) }
}
