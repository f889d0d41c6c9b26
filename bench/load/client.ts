// What the load process asks of a client, whatever it speaks.

/** An edit, and the one that undoes it. */
export type Turn = 'there' | 'back'

export interface Client {
  /** Connects where it isn't. */
  ready(): Promise<void>
  /** Calls `answered` once, with null only if the server says that it made the edit. One request at a time. */
  send(turn: Turn, answered: (problem: Error | null) => void): void
  close(): void
}
