// HTML entities where the text has the signs themselves. Knows texts only.

/** The entities of a text replaced by their signs; undefined where there are none. */
export function withoutEntities(text: string): string | undefined {
  if (!/&(?:lt|gt|amp|quot|#0?39|apos|nbsp);/.test(text)) return undefined
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replace(/&#0?39;|&apos;/g, "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
}
