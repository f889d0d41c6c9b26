// What a document or a source file is made of, as answers show it. Knows only the wire format.
import { Type } from 'typebox'
import { line, lossy, named, word } from './common.ts'

export const StructureItem = named(
  'StructureItem',
  'One section, code block or symbol of a file. Its lines are what an edit of lines takes as start_line and end_line.',
  {
    kind: word(
      [
        'heading',
        'code_block',
        'front_matter',
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
      ],
      'heading: a section, from its heading to the line before the next one of the same or a higher level.'
    ),
    name: Type.Optional(Type.String({ description: 'The text of the heading, or the name of the symbol.' })),
    level: Type.Optional(line('Of a heading, 1 to 6.')),
    parent: Type.Optional(Type.String({ description: 'The path of what it is in: Guide > Setup, or Parser.State.' })),
    language: Type.Optional(Type.String({ description: 'Of a code block, as its fence says.' })),
    start_line: line('First line, with decorators and attributes.'),
    end_line: line('Last line, inclusive.'),
    comment_start_line: Type.Optional(line('Where the doc comment of a symbol begins.')),
    lossy: Type.Optional(lossy)
  }
)
