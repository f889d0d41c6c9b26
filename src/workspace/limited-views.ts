// Views of a workspace, each limited to some paths: callers with the same limits share one. Does not know what a view
// is.

export class LimitedViews<View extends object> {
  /** By their patterns, as JSON; for as long as they are referenced. */
  readonly #views = new Map<string, WeakRef<View>>()

  of(paths: readonly string[], make: () => View): View {
    const key = JSON.stringify(paths)
    const known = this.#views.get(key)?.deref()
    if (known !== undefined) return known
    for (const [other, view] of this.#views) if (view.deref() === undefined) this.#views.delete(other)
    const view = make()
    this.#views.set(key, new WeakRef(view))
    return view
  }
}
