// The syntax of YAML, of one document or several.
import { Composer, type CST, Parser } from 'yaml'
import { faultAt, type SyntaxFault } from '../outline/syntax-errors.ts'

/**
 * Nesting depth of collections. The composer recurses into each, and if the stack overflows inside a regular
 * expression, V8 ends the whole process, not only the thread: from about 3,000 on.
 */
const DEEPEST = 1000

/**
 * The first fault of a text; null if there is none. A duplicate key and an unknown tag aren't faults. Throws if
 * collections are nested too deeply.
 */
export function yamlFault(source: string): SyntaxFault | null {
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, logLevel: 'silent' })
  for (const document of composer.compose(shallow(new Parser().parse(source)))) {
    const [error] = document.errors
    if (error === undefined) continue
    const before = source.slice(0, error.pos[0])
    const line = before.split('\n').length
    return faultAt(source, line, before.length - before.lastIndexOf('\n'), error.message)
  }
  return null
}

/** The tokens; checks the depth of each before yielding it. */
function* shallow(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  for (const token of tokens) {
    let level: CST.Token[] = [token]
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > DEEPEST) throw new Error(`YAML nested more than ${DEEPEST} deep`)
      level = level.flatMap(partsOf)
    }
    yield token
  }
}

function partsOf(token: CST.Token): CST.Token[] {
  const parts = token.type === 'document' ? [token.value] : 'items' in token ? token.items.flatMap(bothOf) : []
  return parts.filter(part => part !== undefined && part !== null)
}

const bothOf = ({ key, value }: CST.CollectionItem): (CST.Token | null | undefined)[] => [key, value]
