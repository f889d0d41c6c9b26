// Reads the name of a symbol out of the other forms in which it is written: `def g(x):`, `Parser#parse`, `(*T).Close`.
import { SEPARATOR, type SymbolKind } from './outline.ts'

/** A path as outlines have it, and the kinds that the words before it allow; `kinds` is absent if they allow any. */
interface DeclaredName {
  path: string
  kinds?: readonly SymbolKind[]
}

const CALLABLE: SymbolKind[] = ['function', 'method']
const TYPES: SymbolKind[] = ['class', 'struct', 'interface', 'trait', 'type', 'enum']
const VALUES: SymbolKind[] = ['constant', 'variable', ...CALLABLE, 'class']

/** What a word says about the symbol that it declares. */
const KINDS: Record<string, readonly SymbolKind[]> = {
  ...Object.fromEntries(['def', 'function', 'func', 'fn', 'fun', 'method', 'sub'].map(word => [word, CALLABLE])),
  ...Object.fromEntries(
    ['class', 'struct', 'interface', 'trait', 'type', 'record', 'union'].map(word => [word, TYPES])
  ),
  ...Object.fromEntries(['const', 'let', 'var', 'val', 'constant', 'variable'].map(word => [word, VALUES])),
  ...Object.fromEntries(['namespace', 'module', 'mod', 'package'].map(word => [word, ['namespace']])),
  enum: ['enum'],
  macro: ['macro']
}

/** Words before a declaration that say nothing about its kind. */
const MODIFIERS = new Set(
  (
    'export default declare public private protected internal static final abstract sealed virtual override async ' +
    'readonly unsafe extern inline pub get set void'
  ).split(' ')
)

const WORD = /^[\p{L}\p{N}_$][\p{L}\p{N}_$.:<>[\],*&?]*$/u
const PATH = /^[\p{L}_$#~][\p{L}\p{N}_$.!?=#~-]*$/u
/** The receiver of a Go method: `func (p *Parser) Parse`, `(*Parser).Parse`. */
const RECEIVER = /^(?:func\s+)?\((?:\w+\s+)?\*?(\w+)(?:\[[^\]]*\])?\)[\s.]*(?=\w)/

/**
 * The path that `asked` names if it is a declaration, a call, or a path with other separators; undefined if it is none
 * of these, or already such a path. Operators and headers such as `impl A for B` are names, so they are none of these.
 */
export function declaredName(asked: string): DeclaredName | undefined {
  const text = asked.trim().replace(/^(["'`])(.*)\1$/s, '$2')
  const plain = text.replace(RECEIVER, '$1.').replace(/<[^<>()]*>(?=[\s.:#(]|$)/g, '')
  const [, head = '', rest = ''] = /^([^(:={;]*(?:::[^(:={;]*)*)(.*)$/s.exec(plain) ?? []
  const words = head.trim().split(/\s+/)
  const before = words.slice(0, -1)
  const isCall = rest.startsWith('(')
  const isDeclared = isCall ? (word: string) => WORD.test(word) : (word: string) => word in KINDS || MODIFIERS.has(word)
  const path = words
    .at(-1)!
    .replaceAll(/::|->|(?<=.)#/g, SEPARATOR.code)
    .replace(/^(?:this|self|cls)\.|^[.#*&]/, '')
  if (!before.every(isDeclared) || before.includes('impl') || !PATH.test(path) || path === asked) return undefined
  const word = before.find(word => Object.hasOwn(KINDS, word))
  return { path, ...(word !== undefined && { kinds: KINDS[word] }) }
}
