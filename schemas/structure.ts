// The structure of a document or a source file, as answers show it. Knows only the wire format, not any language.
import { Type } from './type.ts'
import { line, lossy, named, word } from './common.ts'

/** The kinds of symbols in source code. */
export const SYMBOL_WORDS = [
  'function',
  'method',
  'class',
  'struct',
  'interface',
  'trait',
  'impl',
  'type',
  'enum',
  'namespace',
  'constant',
  'variable',
  'macro',
  'rule'
] as const

export const StructureItem = named(
  'StructureItem',
  'One section, code block or symbol of a file. ' +
    'Its start_line and end_line can be used for an edit by line numbers as they are.',
  {
    kind: word(
      ['heading', 'code_block', 'front_matter', ...SYMBOL_WORDS],
      'heading is a section: from its heading to the line before the next heading of the same or a higher level.'
    ),
    name: Type.Optional(
      Type.String({
        description: 'The text of the heading, or the name of the symbol; one of more than 1,000 characters is cut.'
      })
    ),
    level: Type.Optional(line('The level of a heading, 1 to 6.')),
    parent: Type.Optional(
      Type.String({ description: 'The path of the item that contains it, such as Guide > Setup or Parser.State.' })
    ),
    language: Type.Optional(Type.String({ description: 'The language on the fence of a code block.' })),
    start_line: line('First line, including decorators and attributes.'),
    end_line: line('Last line, inclusive.'),
    comment_start_line: Type.Optional(line('The line where the doc comment of a symbol begins.')),
    lossy: Type.Optional(lossy)
  }
)
