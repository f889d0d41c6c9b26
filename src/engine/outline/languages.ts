// The languages whose outline can be made, by the names that inspect/language.ts gives them. Does not know parsers.
import { bash } from './languages/bash.ts'
import { c } from './languages/c.ts'
import { cpp } from './languages/cpp.ts'
import { csharp } from './languages/csharp.ts'
import { css } from './languages/css.ts'
import { go } from './languages/go.ts'
import { java } from './languages/java.ts'
import { javascript } from './languages/javascript.ts'
import type { Language } from './languages/language.ts'
import { php } from './languages/php.ts'
import { python } from './languages/python.ts'
import { ruby } from './languages/ruby.ts'
import { rust } from './languages/rust.ts'
import { tsx, typescript } from './languages/typescript.ts'

/** Languages of code. */
export const CODE: Readonly<Record<string, Language>> = {
  bash,
  c,
  cpp,
  csharp,
  css,
  go,
  java,
  javascript,
  jsx: javascript,
  php,
  python,
  ruby,
  rust,
  shell: bash,
  tsx,
  typescript
}

/** Bytes of a file that is parsed; a syntax tree takes many times as much memory. */
export const PARSED_SIZE = 8 * 1024 * 1024

/** Every language whose outline can be made. */
export const OUTLINED: readonly string[] = [...Object.keys(CODE), 'markdown'].sort()

export const isOutlined = (language: string | undefined): language is string =>
  language !== undefined && OUTLINED.includes(language)
