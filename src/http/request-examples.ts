// Example requests of each operation that work in this order, in any workspace: /create, /inspect, /find, /edit,
// /edit-lines, /edit-section, /batch, /replace, /preview, /move, /delete, /history, /undo, /redo, /pending, /blame,
// /review, /changes. For the published document and for tests.
import type { RoutedOperations } from '../operations.ts'

const path = 'examples/hello.js'
const LOOP = "for (const name of process.argv.slice(2)) {\n  console.log('Hello, ' + name)\n}\n"

interface Example {
  summary: string
  value: Record<string, unknown>
}

/**
 * By operation and name. The first example of each operation is what a reader sees; if the operation needs no file, it
 * works in an empty workspace. Only those named `miss` fail. Examples of edits also work right after the /create
 * example for the same path, which the page sends first.
 */
export const REQUEST_EXAMPLES: { readonly [Name in keyof RoutedOperations]: Readonly<Record<string, Example>> } = {
  create: {
    new_file: { summary: 'A new file, with its directory', value: { path, content: LOOP } },
    document: {
      summary: 'A document',
      value: {
        path: 'examples/guide.md',
        content: '# Guide\n\n## Setup\n\n```sh\nnpm ci\n```\n\n## Use\n\nGreet everyone.\n'
      }
    }
  },
  inspect: {
    folder: { summary: 'List a directory', value: { path: '.' } },
    lines: { summary: 'Its facts and its first lines', value: { path, start_line: 1, end_line: 20 } },
    search: { summary: 'Find a text', value: { path, search: 'name' } }
  },
  find: {
    text: { summary: 'Find a text in all files', value: { text: 'name', include: '*.js', context_lines: 1 } },
    symbol: { summary: 'Find where something is defined', value: { symbol: 'greet' } },
    names: { summary: 'Find files by name, newest first', value: { include: '*.md', sort: 'modified' } }
  },
  edit: {
    look: {
      summary: 'One replacement, shown and not made',
      value: { path, old_text: '+ name', new_text: '+ name.trim()', dry_run: true, show_diff: true }
    },
    one: {
      summary: 'One replacement',
      value: { path, old_text: '+ name', new_text: '+ name.trim()', show_diff: true }
    },
    many: {
      summary: 'Several, all or nothing',
      value: {
        path,
        edits: [
          { old_text: 'Hello', new_text: 'Good morning' },
          { old_text: 'slice(2)', new_text: 'slice(2).sort()' }
        ]
      }
    },
    miss: {
      summary: 'A miss, and what to do about it',
      value: { path, old_text: 'for(const name of process.argv', new_text: 'for (const name of Deno.args' }
    }
  },
  edit_lines: {
    insert: {
      summary: 'Lines inserted before line 1',
      value: { path, start_line: 1, end_line: 0, new_text: '// Greets everyone who is named.', show_diff: true }
    },
    replace: {
      summary: 'A line replaced, if it has the expected text',
      value: {
        path: 'examples/guide.md',
        start_line: 11,
        end_line: 11,
        expected_text: 'Greet everyone.',
        new_text: 'Greet everyone by name.'
      }
    }
  },
  edit_section: {
    append: {
      summary: 'A section of a document, extended',
      value: {
        path: 'examples/guide.md',
        action: 'append',
        heading: 'Guide > Setup',
        new_text: 'Then run it.',
        show_diff: true
      }
    },
    code_block: {
      summary: 'A code block replaced, its fences kept',
      value: {
        path: 'examples/guide.md',
        action: 'replace',
        code_block: { language: 'sh' },
        new_text: 'npm ci && npm start'
      }
    },
    miss: {
      summary: 'A heading that does not exist',
      value: { path: 'examples/guide.md', action: 'delete', heading: 'Install' }
    }
  },
  batch: {
    new_files: {
      summary: 'Two files that belong together',
      value: {
        operations: [
          { operation: 'create', path: 'examples/greet.js', content: "export const greet = () => 'Hi'\n" },
          { operation: 'create', path: 'examples/main.js', content: "import { greet } from './greet.js'\n" },
          { operation: 'edit', path: 'examples/greet.js', old_text: 'Hi', new_text: 'Hello' }
        ]
      }
    }
  },
  replace: {
    count: {
      summary: 'How often a name is in which files, writing nothing',
      value: { old_text: 'greet', new_text: 'welcome', whole_word: true, path: 'examples', include: '*.js' }
    },
    write: {
      summary: 'Replaced, if it is there so often',
      value: { old_text: 'Hello', new_text: 'Welcome', path: 'examples/greet.js', occurrences: 1, show_diff: true }
    },
    miss: {
      summary: 'A text that no file has',
      value: { old_text: 'Grüezi', new_text: 'Hello', path: 'examples' }
    }
  },
  move: {
    file: {
      summary: 'A file under another name',
      value: { path, to: 'examples/app/greet.js', dry_run: true }
    },
    miss: { summary: 'A file that does not exist', value: { path: 'examples/goodbye.js', to: 'examples/bye.js' } }
  },
  delete: {
    file: { summary: 'What would be deleted', value: { path, dry_run: true } },
    folder: {
      summary: 'What would be deleted of a directory',
      value: { path: 'examples', recursive: true, dry_run: true }
    },
    miss: { summary: 'A file that does not exist', value: { path: 'examples/goodbye.js' } }
  },
  history: {
    all: { summary: 'The last edits', value: { limit: 10 } },
    file: { summary: 'The edits of a file, with their diffs', value: { path, show_diff: true } }
  },
  undo: {
    file: { summary: 'Take back the last edit of a file', value: { path, show_diff: true, note: 'Not what I meant.' } },
    miss: { summary: 'An edit that does not exist', value: { edit_id: '01KASMCX2G0000000000000000' } }
  },
  redo: {
    last: { summary: 'Make again what the last undo took back', value: {} },
    miss: { summary: 'An edit that does not exist', value: { edit_id: '01KASMCX2G0000000000000000' } }
  },
  pending: {
    file: { summary: 'What nobody has kept of a file yet', value: { path, context_lines: 1 } },
    miss: { summary: 'A file that does not exist', value: { path: 'examples/goodbye.js' } }
  },
  blame: {
    lines: { summary: 'Who wrote some lines', value: { path, start_line: 1, end_line: 3 } },
    miss: { summary: 'A file that does not exist', value: { path: 'examples/goodbye.js' } }
  },
  review: {
    file: { summary: 'Keep all changes of a file', value: { verdict: 'keep', path } },
    miss: { summary: 'An edit that does not exist', value: { verdict: 'keep', edit_id: '01KASMCX2G0000000000000000' } }
  },
  changes: {
    now: { summary: 'A cursor to what is changed from now on', value: {} },
    wait: { summary: 'Wait a second for changes of a directory', value: { under: 'examples', wait_ms: 1000 } }
  },
  preview: {
    create: {
      summary: 'What a new file would be',
      value: { operation: 'create', path: 'examples/bye.js', content: "console.log('Bye')\n" }
    },
    edit: {
      summary: 'What an edit would do',
      value: { operation: 'edit', path, old_text: 'console.log', new_text: 'console.info' }
    }
  }
}

/** By the route of an adapter: calls as a model makes them, which work in this order after the /create examples. */
export const ADAPTER_EXAMPLES: Readonly<Record<`/adapters/${string}`, Readonly<Record<string, Example>>>> = {
  '/adapters/anthropic-text-editor': {
    view: { summary: 'Look at a file', value: { command: 'view', path } },
    str_replace: {
      summary: 'One replacement',
      value: { command: 'str_replace', path, old_str: 'const name of', new_str: 'const each of' }
    },
    miss: {
      summary: 'A text that is not there',
      value: { command: 'str_replace', path, old_str: 'const  each of', new_str: 'const one of' }
    }
  },
  '/adapters/anthropic-memory': {
    view: { summary: 'What is remembered', value: { command: 'view', path: '/memories' } }
  },
  '/adapters/openai-apply-patch': {
    create: {
      summary: 'A new file',
      value: {
        type: 'apply_patch_call',
        call_id: 'call_1',
        operation: { type: 'create_file', path: 'examples/notes.md', diff: '+# Notes\n+\n+Nothing yet.\n' }
      }
    }
  },
  '/adapters/codex-apply-patch': {
    update: {
      summary: 'A patch of one file',
      value: {
        input:
          '*** Begin Patch\n*** Update File: examples/notes.md\n@@ # Notes\n-Nothing yet.\n+A first one.\n*** End Patch\n'
      }
    }
  }
}
