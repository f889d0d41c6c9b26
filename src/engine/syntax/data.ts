// The parsers of data languages, each loaded when first needed.
import type { SyntaxFault } from '../outline/syntax-errors.ts'

/** The first fault of a text in one of these languages; null if there is none, undefined for any other language. */
export async function dataFault(source: string, language: string): Promise<SyntaxFault | null | undefined> {
  switch (language) {
    case 'json':
    case 'jsonc': {
      const { jsonFault } = await import('./json.ts')
      return jsonFault(source, { comments: language === 'jsonc' })
    }
    case 'json5': {
      const { json5Fault } = await import('./json5.ts')
      return json5Fault(source)
    }
    case 'yaml': {
      const { yamlFault } = await import('./yaml.ts')
      return yamlFault(source)
    }
    case 'toml': {
      const { tomlFault } = await import('./toml.ts')
      return tomlFault(source)
    }
    default:
      return undefined
  }
}
