// What a request prefers as an answer, by its `Accept` header: a page, JSON or text. Does not know any route.

/** The rank of each media type, 0 for those not listed. An invalid rank counts as none. */
function ranksOf(accept: string): (type: string) => number {
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
  return type => ranks.get(type) ?? 0
}

/** Whether it accepts server-sent events; without the header, it does. */
export function acceptsEvents(accept = '*/*'): boolean {
  const rank = ranksOf(accept)
  return ['text/event-stream', 'text/*', '*/*'].some(type => rank(type) > 0)
}

/** Which of the two types of an MCP answer it accepts. */
export function acceptedOfMcp(accept = '*/*'): { json: boolean; events: boolean } {
  const rank = ranksOf(accept)
  const any = rank('*/*') > 0
  return {
    json: any || rank('application/json') > 0 || rank('application/*') > 0,
    events: any || rank('text/event-stream') > 0 || rank('text/*') > 0
  }
}

/** Whether it comes from a browser that wants a page: text/html ranks above JSON, and nothing ranks above text/html. */
export function prefersPage(accept = ''): boolean {
  const rank = ranksOf(accept)
  const page = rank('text/html')
  return page > rank('application/json') && page >= Math.max(rank('application/*'), rank('*/*'))
}

/** Whether JSON is listed, and ranks above text/plain if that is listed too. Other types don't matter. */
export function prefersJson(accept = ''): boolean {
  const rank = ranksOf(accept)
  const json = Math.max(rank('application/json'), rank('application/problem+json'))
  return json > rank('text/plain') && json >= Math.max(rank('text/*'), rank('*/*'))
}
