// What /edit-section asks for an item of an outline, and why an item can't take it. Does not know the text.

export type SectionAction = 'replace' | 'delete' | 'append' | 'prepend' | 'insert_before' | 'insert_after'

/** Why an item can't take an action. */
export type Refusal = 'not_alone' | 'cramped' | 'no_body' | 'unclosed' | 'closes_fence'

export interface SectionEdit {
  action: SectionAction
  new_text: string
  /** The heading line, or the fences, are replaced too. */
  include_heading: boolean
  /** The doc comment belongs to what is replaced or deleted. */
  include_comment: boolean
}
