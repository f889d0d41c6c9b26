// What counts as a symbol in each language of code. Does not know parsers.
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
import type { CodeName } from './outlined.ts'

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
} satisfies Readonly<Record<CodeName, Language>>
