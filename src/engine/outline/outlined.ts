// Which languages have outlines, by the names from inspect/language.ts. What counts as a symbol is in languages.ts,
// which only parsing threads need.

/** Languages of code. */
export const CODE_NAMES = [
  'bash',
  'c',
  'cpp',
  'csharp',
  'css',
  'go',
  'java',
  'javascript',
  'jsx',
  'php',
  'python',
  'ruby',
  'rust',
  'shell',
  'tsx',
  'typescript'
] as const
export type CodeName = (typeof CODE_NAMES)[number]

/** The largest file, in bytes, that is parsed; a syntax tree takes many times as much memory. */
export const PARSED_SIZE = 8 * 1024 * 1024

/** Every language that can be outlined. */
export const OUTLINED: readonly string[] = [...CODE_NAMES, 'markdown'].sort()

export const isOutlined = (language: string | undefined): language is string =>
  language !== undefined && OUTLINED.includes(language)
