// Something to wait for. Does not know any test.
export interface Gate {
  /** Resolves when it is opened. */
  opened: Promise<void>
  open(): void
}

export function gate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}
