// What JavaScript and TypeScript have in common.

/** A value that is a function; captures its body. */
const FUNCTIONS = '(arrow_function body: (_) @body) (function_expression body: (_) @body)'

/** A class field that holds a function; `node`: the grammar's node type for a field, and its name field. */
export const methodField = (node: string): string => `
(class_body (${node}: (_) @name value: [${FUNCTIONS}]) @definition.method)
`

/** A value that defines nothing else, unlike `exports.f = f` and `exports.x = require('./x')`. */
const VALUES = '(object) (array) (string) (template_string) (number) (regex) (new_expression)'

/** The statement that gives a property this value: `exports.f = …`, `View.prototype.f = …`. */
const assigned = (value: string): string => `(expression_statement (assignment_expression
  left: (member_expression object: (_) @owner property: (property_identifier) @name) right: ${value}))`

export const DEFINITIONS = `
(class_declaration name: (_) @name) @definition.class
(function_declaration name: (_) @name) @definition.function
(generator_function_declaration name: (_) @name) @definition.function
(class_body (method_definition name: (_) @name) @definition.method)
(variable_declarator name: (identifier) @name value: [${FUNCTIONS}]) @definition.topfunction
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @definition.constant)
(lexical_declaration kind: "let" (variable_declarator name: (identifier) @name) @definition.variable)
(variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)
(${assigned(`[${FUNCTIONS}]`)} @definition.topfunction (#match? @owner "^[A-Za-z0-9_$.]+$"))
(${assigned('(class body: (_) @body)')} @definition.class (#match? @owner "^[A-Za-z0-9_$.]+$"))
(${assigned(`[${VALUES}]`)} @definition.variable
  (#match? @owner "^([A-Za-z0-9_$.]+[.])?(exports|prototype)$") (#not-eq? @name "exports"))
(pair key: [(property_identifier) (string)] @name value: [${FUNCTIONS}]) @definition.member
(object (method_definition name: (_) @name) @definition.member)
(export_statement "default" value: [${FUNCTIONS} (class body: (_) @body)]) @definition.default
`
export const WRAPPERS = ['export_statement', 'lexical_declaration', 'variable_declaration']
export const TOP = ['program']
export const STRINGS = ['string', 'template_string']
