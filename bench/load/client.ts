// A client as the load process uses it, for any protocol.

/** An edit, and the one that undoes it. */
export type Turn = 'there' | 'back'

export interface Client {
  /** Connects if it isn't connected. */
  ready(): Promise<void>
  /** Calls `answered` once, with null only if the server reports that it made the edit. One request at a time. */
  send(turn: Turn, answered: (problem: Error | null) => void): void
  close(): void
}
