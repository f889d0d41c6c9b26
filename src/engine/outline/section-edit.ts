// What /edit-section requests for an outline item, and why an item can't take it.

export type SectionAction = 'replace' | 'delete' | 'append' | 'prepend' | 'insert_before' | 'insert_after'

/** Why an item can't take an action. */
export type Refusal = 'not_alone' | 'cramped' | 'no_body' | 'unclosed' | 'closes_fence'

export interface SectionEdit {
  action: SectionAction
  new_text: string
  /** Replace the heading line, or the fences, too. */
  include_heading: boolean
  /** Replace or delete the doc comment too. */
  include_comment: boolean
}
