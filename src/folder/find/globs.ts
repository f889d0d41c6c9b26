// The globs that keep ripgrep from folders and files where nothing may be found. Does not know what is found.

/** A glob for this text alone. */
const escaped = (text: string): string => text.replace(/[\\*?[\]{}! ]/g, '\\$&')

/** Whether a class of a glob can hold this character: others are several bytes, or have a meaning there. */
const isPlain = (character: string): boolean => /^[ -~]$/.test(character) && !/[\\[\]^!/-]/.test(character)

/** Whether `pruning` leaves out all other names. */
export const isPrunable = (name: string): boolean => [...name].every(isPlain)

/**
 * Globs that exclude what is neither at nor below one of these paths below the root, nor a folder above one; not all of
 * it where a name has characters that a class can't hold. None includes anything, as that would bring back files that
 * are ignored.
 */
export function pruning(paths: readonly (readonly string[])[], folder = ''): string[] {
  if (paths.some(names => names.length === 0)) return []
  const first = [...new Set(paths.map(([name]) => name!))]
  const others = allBut(first).map(glob => `!${folder}/${glob}`)
  const below = first.flatMap(name => {
    const inside = paths.filter(names => names[0] === name).map(names => names.slice(1))
    return pruning(inside, `${folder}/${escaped(name)}`)
  })
  return [...others, ...below]
}

/** Globs for names that begin with `start` and aren't among these. */
function allBut(names: readonly string[], start = ''): string[] {
  const here = escaped(start)
  const globs = start === '' || names.includes(start) ? [] : [here]
  const next = [...new Set(names.filter(name => name.length > start.length).map(name => name[start.length]!))]
  if (next.length === 0 && names.length > 0) return [...globs, `${here}?*`]
  if (!next.every(isPlain)) return globs
  const longer = next.flatMap(character =>
    allBut(
      names.filter(name => name.startsWith(start + character)),
      start + character
    )
  )
  return [...globs, `${here}${next.length === 0 ? '' : `[!${next.join('')}]`}*`, ...longer]
}

/** Characters of a path that `pruningBefore` looks at: globs for more would be longer than what they save. Chosen. */
const LOOKED_AT = 256

/**
 * Globs that exclude files and folders that come before this path in a walk where names are sorted, as far as they can
 * tell.
 */
export function pruningBefore(path: readonly string[]): string[] {
  const globs: string[] = []
  let folder = ''
  for (const name of path) {
    for (let at = 0; at < name.length; at++) {
      const start = `!${folder}/${escaped(name.slice(0, at))}`
      if (folder.length + at > LOOKED_AT) return globs
      if (at > 0) globs.push(start)
      const isByte = name[at]! <= '~'
      // Some characters have a meaning in a class: the one before them does as well, for almost all names.
      let last = isByte ? name.charCodeAt(at) - 1 : 0x7e
      while (!isPlain(String.fromCharCode(last)) && last > 0x20) last--
      if (last > 0x20) globs.push(`${start}[\x01-${String.fromCharCode(last)}]*`)
      if (!isByte) break
    }
    folder += `/${escaped(name)}`
  }
  return globs
}

/** A glob that excludes what a pattern of the policy covers. */
export function excluding(pattern: string): string {
  const names = pattern.split('/').filter((name, at) => at === 0 || (name !== '' && name !== '.'))
  return `!${names.map(name => name.split('*').map(escaped).join('*')).join('/')}`
}

/** The names with which a pattern of paths begins, up to the first that isn't fixed. */
export function fixedNames(pattern: string): string[] {
  const names = pattern.split('/')
  const end = names.findIndex(name => name.includes('*'))
  return end === -1 ? names : names.slice(0, end)
}
