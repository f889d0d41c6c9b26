// The syntax of YAML, of one document or several. Does not know files.
import { Composer, Parser } from 'yaml'
import { faultAt, type SyntaxFault } from '../outline/syntax-errors.ts'

/** The first fault of a text; null where there is none. A key given twice and an unknown tag aren't faults. */
export function yamlFault(source: string): SyntaxFault | null {
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, logLevel: 'silent' })
  for (const document of composer.compose(new Parser().parse(source))) {
    const [error] = document.errors
    if (error === undefined) continue
    const before = source.slice(0, error.pos[0])
    const line = before.split('\n').length
    return faultAt(source, line, before.length - before.lastIndexOf('\n'), error.message)
  }
  return null
}
