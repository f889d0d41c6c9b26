// The regions that a failure shows: exact text, lines, likeness, and differences. Does not know sentences.
import { decode, excerpt } from '../text/encoding.ts'
import type { SimilarContent } from '../failure.ts'
import { type Candidate, MARGIN, type Suggestions } from '../suggest/suggest.ts'

/** Least score of a region to offer an edit of it; and least score for high confidence. */
export const MEDIUM = 0.8
const HIGH = 0.9
/** About how many UTF-16 units of a region to show; a longer one is cut in the middle. */
const SHOWN_LENGTH = 4000

/** The candidates as shown; `linesOf` returns the first and last line of a range in the original. */
export function similarContent(
  text: { slice(start: number, end: number): Buffer },
  { candidates, margin }: Suggestions,
  linesOf: (region: Candidate) => [number, number]
): SimilarContent[] {
  return candidates.map((region, index) => {
    const { start, end, score, differences, more_differences, isCut } = region
    const [line_number, end_line] = linesOf(region)
    const { text: content, lossy } = decode(text.slice(start, end))
    const clear = index === 0 && margin >= MARGIN
    return {
      line_number,
      end_line,
      content: excerpt(content, SHOWN_LENGTH),
      similarity_score: score,
      confidence: !clear || score < MEDIUM ? 'low' : score >= HIGH && !isCut ? 'high' : 'medium',
      differences,
      ...(more_differences !== undefined && { more_differences }),
      lossy
    }
  })
}
