// Calls the routes with the token. Does not know what is shown.
import type {
  BlameAnswer,
  CapabilitiesAnswer,
  HistoryAnswer,
  PageProblem,
  PendingAnswer,
  RedoAnswer,
  ReviewAnswer,
  Selection,
  UndoAnswer
} from './wire.ts'

export type Answered<Body> = { ok: true; body: Body } | { ok: false; problem: PageProblem }

/** Selects edits for /undo, /redo and /review. */
export interface Selector {
  changes?: Selection[]
  edit_id?: string
  edit_ids?: string[]
  batch_id?: string
  path?: string
  to?: string
}

/** An undo or redo: a selector and its options. */
export interface UndoCall extends Selector {
  expected_hash?: string
  dry_run?: boolean
  show_diff?: boolean
  on_conflict?: 'skip'
  note?: string
}

export interface Api {
  /** The page's session name: an event with another session has another author. */
  session: string
  token(): string
  /** Asks for another token, once at a time. Resolves with whether one was given. */
  renew(): Promise<boolean>
  /** The URL of a route; a proxy may serve the server below another path. */
  urlOf(route: string): string
  headers(): Record<string, string>
  history(request: object): Promise<Answered<HistoryAnswer>>
  pending(path: string): Promise<Answered<PendingAnswer>>
  blame(request: object): Promise<Answered<BlameAnswer>>
  undo(request: UndoCall): Promise<Answered<UndoAnswer>>
  redo(request: UndoCall): Promise<Answered<RedoAnswer>>
  review(verdict: 'keep' | 'pending', selector: Selector): Promise<Answered<ReviewAnswer>>
  /** The present position in the event stream: events after `next_after` are still to come. */
  now(): Promise<Answered<{ next_after: string }>>
  capabilities(): Promise<Answered<CapabilitiesAnswer>>
  /** Any route, as a fix names it. */
  post(route: string, body: object): Promise<Answered<{ message: string }>>
  /** Whether the history can't be written at present. */
  isDegraded(): Promise<boolean>
}

const KEY = 'editd-token'
/** The most lines of a file's hunks that are shown: as many as one answer has. */
const LINES = 20_000
/** The agent name that the page sends. */
const AGENT = 'reviewer'

/** The token in the URL fragment, which is removed at once, or the one stored in this tab. */
function firstToken(): string {
  const given = /^#token=(.*)$/.exec(location.hash)?.[1]
  if (given === undefined) return sessionStorage.getItem(KEY) ?? ''
  history.replaceState(null, '', location.pathname)
  const token = decoded(given)
  sessionStorage.setItem(KEY, token)
  return token
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const unreachable: PageProblem = {
  code: 'UNREACHABLE',
  title: 'No answer',
  detail: 'No answer came, or one of something in front of the server.'
}

/** Whether an answer is from editd, not from something in front of it. */
const isProblem = (json: unknown): json is PageProblem => typeof (json as PageProblem | null)?.detail === 'string'

interface ApiNeeds {
  /** Asks for a token; `refused`: the present one isn't accepted. Resolves with null if none is given. */
  askToken(refused: boolean): Promise<string | null>
  /** There is another token than before. */
  onToken(): void
  /** After each call: whether the server answered it. */
  onReach(isReached: boolean): void
}

/** A call that the server answers with 401 waits until there is another token, and is sent again with that. */
export function makeApi({ askToken, onToken, onReach }: ApiNeeds): Api {
  let token = firstToken()
  let asking: Promise<boolean> | null = null
  const renew = (): Promise<boolean> => {
    asking ??= askToken(token !== '').then(given => {
      asking = null
      if (given === null) return false
      token = given
      sessionStorage.setItem(KEY, given)
      onToken()
      return true
    })
    return asking
  }
  const session = `page-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  const urlOf = (route: string) => new URL(`..${route}`, import.meta.url).href
  // A header can have only visible characters; no valid token has others.
  const headers = () => ({
    'editd-agent': AGENT,
    'editd-session': session,
    ...(/^[!-~]+$/.test(token) && { authorization: `Bearer ${token}` })
  })
  /** Without a body, GET. Null: to be sent again, with another token. */
  async function send<Body>(route: string, body?: object): Promise<Answered<Body> | null> {
    const used = token
    try {
      const answer = await fetch(urlOf(route), {
        headers: { ...headers(), accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        cache: 'no-store',
        redirect: 'error'
      })
      const json: unknown = await answer.json()
      // Another call may have asked for a token meanwhile.
      if (answer.status === 401 && (used !== token || (await renew()))) return null
      if (answer.ok) return { ok: true, body: json as Body }
      return { ok: false, problem: isProblem(json) ? json : unreachable }
    } catch {
      return { ok: false, problem: unreachable }
    }
  }
  async function call<Body>(route: string, body?: object): Promise<Answered<Body>> {
    for (;;) {
      const answer = await send<Body>(route, body)
      if (answer === null) continue
      onReach(answer.ok || answer.problem !== unreachable)
      return answer
    }
  }
  return {
    session,
    token: () => token,
    renew,
    urlOf,
    headers,
    history: request => call('/history', request),
    pending: path => call('/pending', { path, max_lines: LINES }),
    blame: request => call('/blame', request),
    undo: request => call('/undo', request),
    redo: request => call('/redo', request),
    review: (verdict, selector) => call('/review', { verdict, ...selector }),
    now: () => call('/changes', {}),
    capabilities: () => call('/capabilities'),
    post: call,
    async isDegraded() {
      try {
        const answer = await fetch(urlOf('/readyz'), { cache: 'no-store' })
        const { history } = (await answer.json()) as { history?: string }
        return history === 'degraded'
      } catch {
        return false
      }
    }
  }
}
