// What a token may do. Knows only the words, not where they are checked.

/**
 * Each may do what those before it may. read: look, preview and dry runs. edit: change files, and take back its own
 * changes. review: also keep changes, take back those of others, and delete files.
 */
export const SCOPES = ['read', 'edit', 'review'] as const
export type Scope = (typeof SCOPES)[number]

/** Whether `scope` is enough where `needed` is asked for. */
export const reaches = (scope: Scope, needed: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)
