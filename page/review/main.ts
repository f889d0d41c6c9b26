// The page: loads, draws, and connects the views, the keys and the events. Knows the published routes only.
import { addressIn, hashOf } from './address.ts'
import { makeActions } from './actions.ts'
import { makeApi } from './api.ts'
import { showHelp } from './dialogs.ts'
import { button, drawInSight, drawNow, focusKey, freshen, h, holdPlace, redraw, type Child } from './dom.ts'
import { drawEdits } from './edits.ts'
import { fileHead, placeOf, problemBlock } from './file-head.ts'
import { drawFileView } from './file-view.ts'
import { keysAreOn, listen, turnKeys } from './keys.ts'
import { drawList, listedPaths } from './list.ts'
import { follow, type LiveState } from './live.ts'
import { counted, whyNot, type View } from './model.ts'
import { doneAt, makeNotices } from './notices.ts'
import { drawPending, fileActions, hunkActions, inView } from './pending.ts'
import {
  firstState,
  loadFile,
  loadLists,
  loadMoreLines,
  loadOlder,
  loadOlderOfFile,
  stillRefused,
  type Wanted
} from './state.ts'
import { makeSteps } from './steps.ts'
import { askToken } from './token-form.ts'
import { liveMark, topOf } from './top.ts'
import type { FeedChange } from './wire.ts'
import { wordsFor } from './words.ts'

const region = (id: string) => document.getElementById(id)!
const [top, bar, list, main] = ['top', 'bar', 'list', 'main'].map(region) as [
  HTMLElement,
  HTMLElement,
  HTMLElement,
  HTMLElement
]

const api = makeApi({ askToken, onToken, onReach })
const state = firstState()
const steps = makeSteps()
const notices = makeNotices(region('polite'), region('alerts'), draw)
const actions = makeActions({ api, state, notices, reload, draw })
/** The index of the hunk that the keys act on. */
let current = 0
let live: LiveState = 'waiting'
let isReached = true
/** Stops following the events; null while they aren't followed. */
let following: AbortController | null = null

/** All calls during a reading share one more reading. `own` as for `loadLists`. */
const readLists = (() => {
  let running: Promise<void> | null = null
  let next: { own: boolean; done: Promise<void> } | null = null
  const run = (own: boolean) => {
    running = loadLists(state, api, own).finally(() => {
      running = null
    })
    return running
  }
  const read = (own: boolean): Promise<void> => {
    if (running === null) return run(own)
    if (next !== null) {
      next.own &&= own
      return next.done
    }
    const queued = { own, done: Promise.resolve() }
    queued.done = running.then(() => {
      next = null
      return run(queued.own)
    })
    next = queued
    return queued.done
  }
  return Object.assign(read, { running: () => running })
})()

/** Reloads the view after an action here, and moves to the next hunk. */
async function reload(): Promise<void> {
  const { wanted } = state
  const wasInMain = main.contains(document.activeElement) || document.querySelector('dialog') !== null
  await Promise.all([readLists(true), wanted !== null && loadFile(state, api, wanted)])
  state.refused = await stillRefused(state, api)
  draw()
  if (wasInMain && !main.contains(document.activeElement)) focusHunk(current)
}

/** Reloads everything, including what others did meanwhile; what is read stays where it is. */
async function showNew(): Promise<void> {
  const { wanted } = state
  await Promise.all([readLists(false), wanted !== null && loadFile(state, api, wanted)])
  const putBack = [list, main].map(holdPlace)
  draw()
  for (const put of putBack) put()
}

async function open(path: string, view: View, { at, row }: Pick<Wanted, 'at' | 'row'> = {}): Promise<void> {
  const { wanted } = state
  if (wanted?.path !== path || wanted.view !== view) {
    current = 0
    state.hunk = undefined
  }
  await loadFile(state, api, { path, view, at, row: row ?? (wanted?.path === path ? wanted.row : undefined) })
  draw(true)
  if (!matchMedia('(min-width: 820px)').matches) {
    main.focus()
    scrollTo(0, 0)
  }
}

const hunks = () => [...main.querySelectorAll<HTMLElement>('.hunk')]

function focusHunk(index: number): void {
  const all = hunks()
  if (all.length === 0) {
    if (!focusKey('done')) main.focus()
    return
  }
  current = Math.max(0, Math.min(index, all.length - 1))
  drawNow(all[current]!)
  all[current]!.focus({ preventScroll: true })
  all[current]!.scrollIntoView({ block: 'nearest' })
}

function openBeside(step: 1 | -1): void {
  const paths = listedPaths(state)
  const at = paths.indexOf(state.wanted?.path ?? '')
  const path = paths[at < 0 ? 0 : at + step]
  if (path === undefined) return
  open(path, state.filter.show === 'pending' ? 'pending' : 'edits').then(() => focusHunk(0))
}

/** Null if a problem is shown instead. */
const shownFile = () => (state.problem === null ? state.file : null)
const inFile = (run: (path: string, view: View) => unknown) => {
  const file = shownFile()
  if (file !== null) return run(file.path, file.view)
}
const toggleSide = () => {
  state.side = !state.side
  drawMain()
}
const toggleSpaces = () => {
  state.spaces = !state.spaces
  current = 0
  drawMain()
}
/** What is shown of what is pending in the open file; null if that isn't shown, or is empty. */
const pendingNow = () => {
  const { pending } = shownFile() ?? {}
  const shown = pending && inView(pending, state)
  return shown === undefined || shown.hunks.length === 0 ? null : shown
}
/** Runs what a key does, or says why it can't be done. */
const ifOffered = (run: () => unknown) => () => {
  const why = whyNot(state.rights)
  return why === null ? run() : notices.failed(why)
}
const hunkNow = () => {
  const pending = pendingNow()
  return pending && hunkActions(pending, current, actions)
}
const fileNow = () => {
  const pending = pendingNow()
  const whole = pending && fileActions(pending, state, actions)
  if (pending !== null && whole === null) notices.failed('The list shows nothing of this file.')
  return whole
}

/* Drawing. */

const drawTop = () =>
  redraw(
    top,
    ...topOf({
      state,
      live: liveNow(),
      docs: api.urlOf('/docs'),
      takeOtherToken,
      help,
      choose(show) {
        state.filter.show = show
        draw(true)
        refilter()
      },
      search(text) {
        state.filter.text = text
        clearTimeout(typing)
        typing = setTimeout(refilter, TYPED)
      },
      leave: () => main.focus()
    })
  )

/** In ms: how long nothing is typed before the filter is used. Chosen. */
const TYPED = 200
let typing: ReturnType<typeof setTimeout> | undefined

/** Loads the lists that the filter asks for. */
async function refilter(): Promise<void> {
  await readLists(false)
  draw()
}

/** What is new, over the page, so that nothing moves. */
function drawBar(): void {
  const fresh = state.fresh.length
  const hadFocus = bar.contains(document.activeElement)
  const here = state.fresh.filter(({ path }) => path === state.file?.path).length
  redraw(
    bar,
    state.degraded && h('p', { class: 'warning' }, 'The history cannot be written: edits are made, but not recorded.'),
    fresh > 0 &&
      h(
        'div',
        { class: 'fresh' },
        h('span', {}, `${fresh} new${here > 0 ? `, ${here} in this file` : ''}`),
        button({
          name: `Show ${counted(fresh, 'new change')}`,
          label: 'Show',
          shortcut: 'n',
          key: 'show-new',
          run: showNew
        })
      )
  )
  if (hadFocus && fresh === 0) main.focus()
}

const listNow = () =>
  drawList({
    state,
    actions,
    open: (path, view, row) => open(path, view, { row }),
    older: () => more(loadOlder, draw)
  })

async function copy(path: string): Promise<void> {
  await navigator.clipboard.writeText(path)
  notices.done(`Copied ${path}.`)
}

/** The address of what is shown. */
const addressNow = ({ filter, wanted, ...others } = state) =>
  hashOf({ ...others, ...filter, file: wanted ?? undefined })

function closeFile(): void {
  if (!steps.backTo(addressNow({ ...state, wanted: null }))) showList(true)
}

/** Shows no file. `isStep` as for `draw`. */
function showList(isStep = false): void {
  const path = state.wanted?.path
  state.file = null
  state.wanted = null
  state.hunk = undefined
  // Drop what is still loading.
  state.opened++
  draw(isStep)
  const rows = [...list.querySelectorAll<HTMLElement>('.file')]
  rows.find(row => row.dataset.key?.endsWith(` ${path}`))?.focus()
}

/** Takes over what the address says, except that the file is still to be loaded. */
function readAddress(): void {
  const { show, text, side, spaces, file, hunk } = addressIn(location.hash)
  Object.assign(state, { filter: { show, text }, side, spaces, hunk, wanted: file ?? null })
}

/** After Back, or another address in this tab. */
async function arrive(): Promise<void> {
  steps.arrived()
  const { wanted: before, filter } = state
  readAddress()
  if (state.filter.text !== filter.text || state.filter.show !== filter.show) await readLists(false)
  const { wanted } = state
  if (wanted === null) {
    state.wanted = before
    showList()
    return
  }
  await loadFile(state, api, wanted)
  draw()
  arriveAtHunk()
}

function arriveAtHunk(): void {
  const index = hunks().findIndex(hunk => hunk.dataset.key === state.hunk)
  if (index >= 0) focusHunk(index)
}

function mainNow(): Child[] {
  const { file } = state
  if (state.problem !== null) {
    return [
      // All routes are there, but not below the name of another workspace.
      state.problem.code === 'ROUTE_NOT_FOUND'
        ? h('p', { class: 'warning' }, 'The token is not for the workspace of this address.')
        : problemBlock(state.problem),
      button({ name: 'Use another token', label: 'Other token', key: 'token', run: takeOtherToken }),
      button({ name: 'Try again', label: 'Try again', key: 'again', run: tryAgain })
    ]
  }
  if (file === null) {
    return [h('p', { class: 'empty' }, state.loaded ? 'Choose a file, or press J.' : 'Loading …')]
  }
  const { pending, problem, view, path } = file
  return [
    fileHead({ path, view, shown: state, open, close: closeFile, copy: () => copy(path), toggleSide, toggleSpaces }),
    ...doneAt(notices, placeOf(path).key),
    problem !== undefined && problemBlock(problem),
    ...(pending === undefined
      ? []
      : drawPending(pending, { state, actions, next: () => openBeside(1), showSpaces: toggleSpaces })),
    ...(view === 'edits' ? drawEdits(state, actions, () => more(loadOlderOfFile)) : []),
    ...(view === 'file'
      ? drawFileView({
          state,
          actions,
          show: at => open(path, 'file', { at }),
          moreLines: () => more(loadMoreLines)
        })
      : [])
  ]
}

/** Loads more of the list, or of the open file, and shows it. */
async function more(load: typeof loadOlder, show = drawMain): Promise<void> {
  await readLists.running()
  const problem = await load(state, api)
  if (problem === null) show()
  else notices.failed(wordsFor(problem))
}

/** The hunk that the keys act on shows them. */
const markCurrent = () => hunks().forEach((hunk, i) => hunk.classList.toggle('is-current', i === current))

/** Tells the style sheet how high the head of the file is: those of hunks stay in sight below it. */
function measureHead(): void {
  const head = main.querySelector<HTMLElement>('.file-head')
  if (head === null) return
  main.style.setProperty('--head', `${head.offsetHeight + parseFloat(getComputedStyle(head).top)}px`)
}

/** `isStep`: Back leads to what was shown before. */
function drawMain(isStep = false): void {
  document.body.classList.toggle('has-file', state.file !== null)
  redraw(main, ...mainNow())
  drawInSight(main)
  markCurrent()
  measureHead()
  steps.write(addressNow(), isStep)
}

function draw(isStep = false): void {
  drawTop()
  drawBar()
  redraw(list, ...listNow())
  drawMain(isStep)
}

const help = () => showHelp(keysAreOn(), turnKeys)

/* Events. */

function onChange(change: FeedChange): void {
  if (change.session === api.session) return
  if (change.type === 'edit' && state.edits.some(({ edit_id }) => edit_id === change.edit_id)) return
  state.fresh.push(change)
  if (!state.loaded) return
  // If nothing is shown, nothing can move.
  const isEmpty = state.file === null && list.querySelector('.file') === null
  if (isEmpty) showNew()
  else drawBar()
}

/** Checks whether the history can be written. */
async function lookAtHistory(): Promise<void> {
  const degraded = await api.isDegraded()
  if (degraded === state.degraded) return
  state.degraded = degraded
  drawBar()
}

/** Retries what couldn't be loaded. */
const tryAgain = () => (state.loaded ? showNew() : begin())

async function takeOtherToken(): Promise<void> {
  if (await api.renew()) await tryAgain()
}

/** The mark says "live" only if calls are answered too. */
const liveNow = (): LiveState => (live === 'live' && !isReached ? 'waiting' : live)
const drawLive = () => top.querySelector('.live')?.replaceWith(liveMark(liveNow()))

function onState(now: LiveState): void {
  live = now
  drawLive()
  if (now === 'live' && (!isReached || state.problem !== null)) tryAgain()
  // The stream also ends if the history can't be read.
  if (now !== 'live' && state.loaded) lookAtHistory()
}

/** In ms, chosen: when to try again to reach the server, or to follow the events. */
const AGAIN = 2000
const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Looks again by itself while the server gives no answer, and shows what there is once it does. */
async function onReach(now: boolean): Promise<void> {
  if (now === isReached) return
  isReached = now
  drawLive()
  if (now) {
    notices.clear(wordsFor({ code: 'UNREACHABLE' }))
    if (state.loaded) await showNew()
    return
  }
  for (let isBack = false; !isBack;) {
    await sleep(AGAIN)
    const answer = await api.now()
    isBack = answer.ok || answer.problem.code !== 'UNREACHABLE'
  }
}

/** Reloads everything with another token, which may be for another workspace. */
function onToken(): void {
  if (!state.loaded) return
  following?.abort()
  following = null
  begin()
}

/** Finds out what the token may do; the address says for which workspace it is. */
async function lookAtRights(): Promise<void> {
  const answer = await api.capabilities()
  if (!answer.ok) return
  state.rights = answer.body
  draw()
  const { workspace } = answer.body.access ?? {}
  if (workspace !== undefined && !location.pathname.includes('/w/')) {
    history.replaceState(history.state, '', api.urlOf(`/w/${workspace}/review`) + location.hash)
  }
}

/** Loads the lists and follows later events: gets the position in the stream first, so that nothing is missed. */
async function begin(): Promise<void> {
  const now = following === null ? await api.now() : null
  if (now?.ok === true && following === null) {
    following = new AbortController()
    const from = { next_after: now.body.next_after, signal: following.signal }
    await follow(api, { onChange, onState, onHeartbeat: lookAtHistory, onGap: showNew }, from)
  }
  await Promise.all([showNew(), lookAtRights()])
  if (document.activeElement === document.body) arriveAtHunk()
  const { problem } = state
  if (problem === null ? following !== null : problem.code !== 'UNREACHABLE') return
  // Events in between were missed, so the lists are loaded again too.
  if (following === null) onState('waiting')
  setTimeout(begin, AGAIN)
}

addEventListener('popstate', () => {
  // Opening a URL with another token in this tab doesn't reload the page, and the token would stay in the URL.
  if (location.hash.startsWith('#token=')) location.reload()
  else arrive()
})

main.addEventListener('focusin', ({ target }) => {
  const index = hunks().findIndex(hunk => hunk.contains(target as Node))
  if (index < 0) return
  current = index
  markCurrent()
  state.hunk = hunks()[index]!.dataset.key
  steps.write(addressNow(), false)
})

addEventListener('resize', measureHead)
// In ms: no time says less than a minute.
setInterval(freshen, 60_000)

listen({
  j: () => focusHunk(hunks().some(hunk => hunk.contains(document.activeElement)) ? current + 1 : current),
  k: () => focusHunk(current - 1),
  J: () => openBeside(1),
  K: () => openBeside(-1),
  y: ifOffered(() => hunkNow()?.keep()),
  u: ifOffered(() => hunkNow()?.take()),
  Y: ifOffered(() => fileNow()?.keep()),
  U: ifOffered(() => fileNow()?.take()),
  z: () => notices.undoLast(),
  n: showNew,
  e: () => inFile((path, view) => open(path, view === 'edits' ? 'pending' : 'edits')),
  f: () => inFile((path, view) => open(path, view === 'file' ? 'pending' : 'file')),
  s: toggleSide,
  w: toggleSpaces,
  '/': () => focusKey('filter'),
  '?': help
})

readAddress()
draw()
begin()
