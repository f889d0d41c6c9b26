// What the page says of problems: for each code that the server has, in words of its own.
import t from 'tap'
import { wordsFor } from '../../../page/review/words.ts'

t.match(wordsFor({ code: 'UNREACHABLE' }), /^The server gives no answer\./)
t.equal(wordsFor({ code: 'MIXED_MODES' }), 'The server refused this (mixed modes).')
