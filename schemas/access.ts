// The scopes of a token. Knows only the words, not where they are checked.

/**
 * Each scope includes those before it. read: look, preview and dry runs. edit: change files, and undo its own changes.
 * review: also keep changes, undo other callers' changes, and delete files.
 */
export const SCOPES = ['read', 'edit', 'review'] as const
export type Scope = (typeof SCOPES)[number]

/** Whether `scope` covers `needed`. */
export const reaches = (scope: Scope, needed: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)
