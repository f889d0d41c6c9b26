// Reads server-sent events from the chunks of a stream. Does not know their content.

export interface ServerEvent {
  event: string
  data: string
  id?: string
}

/** Takes chunks of text in order; returns the complete events. An event that is cut off at the end doesn't count. */
export function makeEventReader(): (chunk: string) => ServerEvent[] {
  let rest = ''
  return chunk => {
    // A line break may be split: a \r at the end waits for its \n.
    const text = rest + chunk
    const blocks = text.replace(/\r\n|\r(?!$)/g, '\n').split('\n\n')
    rest = blocks.pop() ?? ''
    return blocks.flatMap(block => eventOf(block))
  }
}

function eventOf(block: string): ServerEvent[] {
  const fields = new Map<string, string[]>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? []
    // A line that begins with a colon is a comment: the heartbeat.
    if (name !== '') fields.set(name, [...(fields.get(name) ?? []), value])
  }
  if (!fields.has('data')) return []
  const id = fields.get('id')?.at(-1)
  return [
    {
      event: fields.get('event')?.at(-1) ?? 'message',
      data: (fields.get('data') ?? []).join('\n'),
      ...(id !== undefined && { id })
    }
  ]
}
