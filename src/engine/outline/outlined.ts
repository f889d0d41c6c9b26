// Which languages have outlines, by the names that inspect/language.ts gives them. Does not know what counts as a symbol in
// them: only a thread that parses needs that.

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

/** Bytes of a file that is parsed; a syntax tree takes many times as much memory. */
export const PARSED_SIZE = 8 * 1024 * 1024

/** Every language whose outline can be made. */
export const OUTLINED: readonly string[] = [...CODE_NAMES, 'markdown'].sort()

export const isOutlined = (language: string | undefined): language is string =>
  language !== undefined && OUTLINED.includes(language)
