// The page: loads, draws, and connects the views, the keys and the events. Knows the published routes only.
import { makeActions } from './actions.ts'
import { makeApi } from './api.ts'
import { showHelp } from './dialogs.ts'
import { button, focusKey, h, named, redraw, timeText, type Child } from './dom.ts'
import { drawEdits } from './edits.ts'
import { drawFileView } from './file-view.ts'
import { keysAreOn, listen, turnKeys } from './keys.ts'
import { drawList, listedPaths } from './list.ts'
import { follow, type LiveState } from './live.ts'
import { counted, needOf, summaryOf, summarySentence, type Shown } from './model.ts'
import { makeNotices } from './notices.ts'
import { drawPending, fileActions, hunkActions } from './pending.ts'
import { firstState, loadFile, loadLists, loadOlder, type View } from './state.ts'
import { drawTokenForm } from './token-form.ts'
import type { FeedChange } from './wire.ts'

const region = (id: string) => document.getElementById(id)!
const [top, bar, list, main] = ['top', 'bar', 'list', 'main'].map(region) as [
  HTMLElement,
  HTMLElement,
  HTMLElement,
  HTMLElement
]

const api = makeApi()
const state = firstState()
const notices = makeNotices(region('polite'), region('alerts'))
const actions = makeActions({ api, state, notices, reload, draw })
/** The hunk that the keys are about. */
let current = 0
let live: LiveState = 'waiting'
let follows = false

/** Reads again what is shown after something was done here, and goes on at the hunk that comes next. */
async function reload(): Promise<void> {
  const { file } = state
  const at = file?.blame?.at
  const wasInMain = main.contains(document.activeElement) || document.querySelector('dialog') !== null
  await Promise.all([loadLists(state, api, true), file !== null && loadFile(state, api, file.path, file.view, at)])
  state.refused = state.refused.filter(({ edit_id }) =>
    state.edits.some(edit => edit.edit_id === edit_id && edit.state !== 'undone')
  )
  draw()
  if (wasInMain && !main.contains(document.activeElement)) focusHunk(current)
}

/** Reads all again, also what others did meanwhile. */
async function showNew(): Promise<void> {
  const { file } = state
  await Promise.all([loadLists(state, api, false), file !== null && loadFile(state, api, file.path, file.view)])
  draw()
}

async function open(path: string, view: View = 'pending', at?: string): Promise<void> {
  if (state.file?.path !== path || state.file.view !== view) current = 0
  await loadFile(state, api, path, view, at)
  draw()
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
  all[current]!.focus({ preventScroll: true })
  all[current]!.scrollIntoView({ block: 'nearest' })
}

function openBeside(step: 1 | -1): void {
  const paths = listedPaths(state)
  const at = paths.indexOf(state.file?.path ?? '')
  const path = paths[at < 0 ? 0 : at + step]
  if (path === undefined) return
  open(path, state.filter.show === 'pending' ? 'pending' : 'edits').then(() => focusHunk(0))
}

const inFile = (run: (path: string, view: View) => unknown) => {
  if (state.file !== null) return run(state.file.path, state.file.view)
}
const openView = (view: View) => inFile(path => open(path, view))
const toggleSide = () => {
  state.side = !state.side
  drawMain()
}
const hunkNow = () => {
  const { pending } = state.file ?? {}
  return pending === undefined ? null : hunkActions(pending, current, actions)
}
const fileNow = () => {
  const { pending } = state.file ?? {}
  return pending === undefined || pending.hunks.length === 0 ? null : fileActions(pending, actions)
}

/* What is drawn. */

const SHOWN: readonly (readonly [Shown, string])[] = [
  ['pending', 'To review'],
  ['undone', 'Taken back'],
  ['kept', 'Kept'],
  ['all', 'All']
]

const LIVE: Record<LiveState, string> = { live: 'live', waiting: 'connecting …', refused: 'not live' }

function drawTop(): void {
  const needs =
    state.edits.filter(edit => needOf(edit) !== null).length + state.refused.length + (state.degraded ? 1 : 0)
  const sentence = state.loaded ? summarySentence(summaryOf(state.edits), needs, timeText) : 'editd'
  document.title = needs > 0 ? `(${needs}) editd` : 'editd'
  redraw(
    top,
    h('h1', {}, sentence),
    state.loaded && drawFilter(),
    h(
      'div',
      { class: 'links' },
      state.loaded && h('span', { class: `live is-${live}`, role: 'status' }, LIVE[live]),
      button({ name: 'Keys', label: 'Keys', shortcut: '?', key: 'help', class: 'quiet', run: help }),
      h('a', { href: api.urlOf('/docs') }, 'API')
    )
  )
}

function drawFilter(): HTMLElement {
  const input = h('input', {
    type: 'search',
    key: 'filter',
    placeholder: 'Filter: path, agent, reason',
    'aria-label': 'Filter by path, agent, session or reason',
    'aria-keyshortcuts': '/',
    on: {
      input: () => {
        state.filter.text = input.value
        redraw(list, ...listNow())
      }
    }
  })
  input.value = state.filter.text
  const choose = (show: Shown) => {
    state.filter.show = show
    draw()
  }
  return h(
    'div',
    { class: 'filter', role: 'search' },
    h(
      'div',
      { class: 'choice', role: 'group', 'aria-label': 'Which edits' },
      ...SHOWN.map(([show, label]) =>
        h(
          'button',
          {
            type: 'button',
            key: `show-${show}`,
            'aria-pressed': String(state.filter.show === show),
            on: { click: () => choose(show) }
          },
          label
        )
      )
    ),
    input
  )
}

function drawBar(): void {
  const fresh = state.fresh.length
  bar.replaceChildren()
  if (fresh === 0) return
  const here = state.fresh.filter(({ path }) => path === state.file?.path).length
  bar.append(
    h('span', {}, `${fresh} new${here > 0 ? `, ${here} in this file` : ''}`),
    button({
      name: `Show ${counted(fresh, 'new change')}`,
      label: 'Show',
      shortcut: 'n',
      key: 'show-new',
      run: showNew
    })
  )
}

const listNow = () =>
  drawList({
    state,
    actions,
    open,
    async older() {
      await loadOlder(state, api)
      draw()
    }
  })

const VIEWS: readonly (readonly [View, string, string])[] = [
  ['pending', 'To review', ''],
  ['edits', 'Edit by edit', 'e'],
  ['file', 'File', 'f']
]

function fileHead(path: string, view: View): HTMLElement {
  return h(
    'div',
    { class: 'file-head' },
    button({ name: 'Back to the list', label: 'List', key: 'back', class: 'back', run: closeFile }),
    h('h2', {}, named(path)),
    h(
      'div',
      { class: 'choice', role: 'group', 'aria-label': 'What is shown of the file' },
      ...VIEWS.map(([name, label, key]) =>
        h(
          'button',
          {
            type: 'button',
            key: `view-${name}`,
            'aria-pressed': String(view === name),
            'aria-keyshortcuts': key === '' ? undefined : key,
            on: { click: () => open(path, name) }
          },
          label
        )
      )
    ),
    view !== 'file' &&
      h(
        'button',
        {
          type: 'button',
          class: 'quiet wide',
          key: 'side',
          'aria-pressed': String(state.side),
          'aria-keyshortcuts': 's',
          on: { click: toggleSide }
        },
        'Side by side'
      )
  )
}

function closeFile(): void {
  const path = state.file?.path
  state.file = null
  draw()
  const rows = [...list.querySelectorAll<HTMLElement>('.file')]
  rows.find(row => row.dataset.key?.endsWith(` ${path}`))?.focus()
}

function mainNow(): Child[] {
  const { file } = state
  if (state.problem !== null) return [problemBlock(state.problem.title, state.problem.detail)]
  if (file === null) {
    return [h('p', { class: 'empty' }, state.loaded ? 'Choose a file, or press J.' : 'Loading …')]
  }
  const { pending, problem, view, path } = file
  return [
    fileHead(path, view),
    problem !== undefined && problemBlock(problem.title, problem.detail),
    ...(pending === undefined ? [] : drawPending(pending, state, actions, () => openBeside(1))),
    ...(view === 'edits' ? drawEdits(state, actions, olderOfFile) : []),
    ...(view === 'file' ? drawFileView({ state, actions, show: at => open(path, 'file', at), moreLines }) : [])
  ]
}

const problemBlock = (title: string, detail: string) =>
  h('div', { class: 'warning' }, h('h2', {}, title), h('p', {}, detail))

async function olderOfFile(): Promise<void> {
  const { edits, path } = state.file ?? {}
  if (edits?.next_before === undefined) return
  const answer = await api.history({ path, limit: 50, show_diff: true, before: edits.next_before })
  if (!answer.ok) {
    notices.failed(answer.problem.detail)
    return
  }
  edits.edits.push(...answer.body.edits)
  if (answer.body.next_before === undefined) delete edits.next_before
  else edits.next_before = answer.body.next_before
  drawMain()
}

async function moreLines(): Promise<void> {
  const { blame } = state.file ?? {}
  if (blame?.next_line === undefined) return
  const { path, at, next_line } = blame
  const answer = await api.blame({ path, start_line: next_line, limit: 5000, ...(at !== undefined && { at }) })
  if (!answer.ok) {
    notices.failed(answer.problem.detail)
    return
  }
  const known = new Set(blame.edits.map(({ edit_id }) => edit_id))
  blame.lines.push(...answer.body.lines)
  blame.edits.push(...answer.body.edits.filter(({ edit_id }) => !known.has(edit_id)))
  if (answer.body.next_line === undefined) delete blame.next_line
  else blame.next_line = answer.body.next_line
  drawMain()
}

function drawMain(): void {
  document.body.classList.toggle('has-file', state.file !== null)
  redraw(main, ...mainNow())
}

function draw(): void {
  if (state.problem?.code === 'UNAUTHORIZED') {
    askToken()
    return
  }
  drawTop()
  drawBar()
  redraw(list, ...listNow())
  drawMain()
}

function askToken(): void {
  list.replaceChildren()
  bar.replaceChildren()
  document.body.classList.add('has-file')
  drawTop()
  drawTokenForm(main, api.token() !== '', token => {
    api.setToken(token)
    begin()
  })
}

const help = () => showHelp(keysAreOn(), turnKeys)

/* What is told by events. */

function onChange(change: FeedChange): void {
  if (change.session === api.session || !state.loaded) return
  if (change.type === 'edit' && state.edits.some(({ edit_id }) => edit_id === change.edit_id)) return
  state.fresh.push(change)
  // Where nothing is shown, nothing can move.
  const isEmpty = state.file === null && list.querySelector('.file') === null
  if (isEmpty) showNew()
  else drawBar()
}

async function begin(): Promise<void> {
  await loadLists(state, api, false)
  draw()
  if (!state.loaded || state.problem !== null || follows) return
  follows = true
  follow(api, {
    onChange,
    onState(told) {
      live = told
      const shown = top.querySelector('.live')
      if (shown === null) return
      shown.className = `live is-${told}`
      shown.textContent = LIVE[told]
    },
    onGap: () => showNew()
  })
}

main.addEventListener('focusin', ({ target }) => {
  const index = hunks().findIndex(hunk => hunk.contains(target as Node))
  if (index >= 0) current = index
})

listen({
  j: () => focusHunk(hunks().some(hunk => hunk.contains(document.activeElement)) ? current + 1 : current),
  k: () => focusHunk(current - 1),
  J: () => openBeside(1),
  K: () => openBeside(-1),
  y: () => hunkNow()?.keep(),
  u: () => hunkNow()?.take(),
  Y: () => fileNow()?.keep(),
  U: () => fileNow()?.take(),
  z: () => notices.undoLast(),
  n: showNew,
  e: () => inFile((path, view) => open(path, view === 'edits' ? 'pending' : 'edits')),
  f: () => openView('file'),
  s: toggleSide,
  '/': () => focusKey('filter'),
  '?': help
})

begin()
