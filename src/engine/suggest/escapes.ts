// Texts that were escaped once too often: `\n`, `\"`, `\\`, `\u00e9` for what they stand for. Knows texts only.

const MEANING: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '',
  '"': '"',
  "'": "'",
  '`': '`',
  '\\': '\\',
  $: '$',
  '\n': '\n'
}

/** Whether there is anything to unescape. */
export const hasEscapes = (text: string): boolean => /\\[nt"'`\\$ur]/.test(text)

/** Every escape replaced by what it stands for; unknown ones are kept. */
export const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (all: string, hex: string | undefined, sign: string) =>
    hex !== undefined ? String.fromCharCode(parseInt(hex, 16)) : (MEANING[sign] ?? all)
  )

/** Only quotes, `$` and backslashes unescaped: for code whose own strings hold `\n`. */
export const withPlainQuotes = (text: string): string => text.replace(/\\(["'`$\\])/g, '$1')
