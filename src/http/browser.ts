// Whether a request comes from a browser that wants a page. Does not know any route.

/** Whether an `Accept` names text/html, ranks it above JSON and nothing above it. An invalid rank counts as none. */
export function prefersPage(accept = ''): boolean {
  const ranks = new Map(
    accept
      .toLowerCase()
      .split(',')
      .map(range => {
        const [type = '', ...parameters] = range.split(';').map(part => part.trim())
        const rank = parameters.find(parameter => parameter.startsWith('q='))
        return [type, rank === undefined ? 1 : Number(rank.slice(2))]
      })
  )
  const rank = (type: string) => ranks.get(type) ?? 0
  const page = rank('text/html')
  return page > rank('application/json') && page >= Math.max(rank('application/*'), rank('*/*'))
}
