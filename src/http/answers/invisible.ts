// Characters that are invisible or look like others: their names for sentences, and their escapes for calls. Does not
// know sentences.

/**
 * Format characters, controls, variation selectors, fillers, and spaces other than U+0020. Controls that JSON escapes
 * never get here.
 */
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/gu

const NAMES: Record<number, string> = {
  0xa0: 'no-break space',
  0xad: 'soft hyphen',
  0x34f: 'combining grapheme joiner',
  0x61c: 'Arabic letter mark',
  0x1680: 'Ogham space mark',
  0x180e: 'Mongolian vowel separator',
  0x2000: 'en quad',
  0x2001: 'em quad',
  0x2002: 'en space',
  0x2003: 'em space',
  0x2004: 'three-per-em space',
  0x2005: 'four-per-em space',
  0x2006: 'six-per-em space',
  0x2007: 'figure space',
  0x2008: 'punctuation space',
  0x2009: 'thin space',
  0x200a: 'hair space',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'pop directional formatting',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x202f: 'narrow no-break space',
  0x205f: 'medium mathematical space',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate',
  0x3000: 'ideographic space',
  0x3164: 'Hangul filler',
  0xfeff: 'byte-order mark'
}

/** The text with each such character replaced by its name, like `[U+200B zero width space]`. */
export const withInvisibleNamed = (text: string): string =>
  text.replace(INVISIBLE, character => {
    const code = character.codePointAt(0)!
    return named(character, code >= 0xfe00 && code <= 0xfe0f ? `variation selector-${code - 0xfdff}` : NAMES[code])
  })

/**
 * `withInvisibleNamed`, also with the marks of composed characters that are written as several (NFD), for names that
 * look alike.
 */
export const withHiddenNamed = (text: string): string =>
  withInvisibleNamed(ofDecomposed(text, mark => named(mark, 'combining mark')))

/** A value as JSON in which each such character is an escape, since models can't copy what they don't see. */
export const jsonShown = (value: unknown): string =>
  ofDecomposed(JSON.stringify(value), escaped).replace(INVISIBLE, escaped)

function named(character: string, name: string | undefined): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return `[U+${code}${name === undefined ? '' : ` ${name}`}]`
}

/** The text with `change` made to each mark that Unicode would compose with the character before it. */
const ofDecomposed = (text: string, change: (mark: string) => string): string =>
  text.replace(/\P{M}\p{M}+/gu, cluster =>
    cluster.normalize('NFC').length < cluster.length ? cluster.replace(/\p{M}/gu, change) : cluster
  )

/** Each UTF-16 unit as a JSON escape. */
const escaped = (character: string): string =>
  character.replace(/[^]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
