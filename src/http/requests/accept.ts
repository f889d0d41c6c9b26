// What a request would rather be answered with, by its `Accept`: a page, JSON or text. Does not know any route.

/** Media types with their ranks, 0 for those that aren't named. An invalid rank counts as none. */
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

/** Whether it takes server-sent events; without a word, it does. */
export function acceptsEvents(accept = '*/*'): boolean {
  const rank = ranksOf(accept)
  return ['text/event-stream', 'text/*', '*/*'].some(type => rank(type) > 0)
}

/** Whether it takes any type; without a word, it does. */
export const acceptsAnything = (accept = '*/*'): boolean => ranksOf(accept)('*/*') > 0

/** Whether it comes from a browser that wants a page: text/html ranks above JSON, and nothing above it. */
export function prefersPage(accept = ''): boolean {
  const rank = ranksOf(accept)
  const page = rank('text/html')
  return page > rank('application/json') && page >= Math.max(rank('application/*'), rank('*/*'))
}

/** Whether JSON is named, and ranks above text/plain where that is named too; whatever is accepted besides. */
export function prefersJson(accept = ''): boolean {
  const rank = ranksOf(accept)
  const json = Math.max(rank('application/json'), rank('application/problem+json'))
  return json > rank('text/plain') && json >= Math.max(rank('text/*'), rank('*/*'))
}
