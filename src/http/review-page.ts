// The review page: where its files are, and what it may do in a browser. Does not know the files' content.
import { readdir } from 'node:fs/promises'
import type { Routes } from './errors.ts'
import { makePage, type WebPage } from './static-file.ts'

/** The page may only load its own files and call its own server; no text ever becomes HTML. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'"
].join('; ')

const HEADERS = {
  'content-security-policy': CSP,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff'
}

/** Located through package.json, since this file runs from here and from dist/. */
const FOLDERS = [
  new URL('.', import.meta.resolve('#page/review/index.html')),
  new URL('.', import.meta.resolve('#page/built/main.js'))
]

async function urls(): Promise<URL[]> {
  const lists = await Promise.all(
    FOLDERS.map(async folder => (await readdir(folder)).map(name => new URL(name, folder)))
  )
  return lists.flat()
}

export const makeReviewPage = (routes: Routes): WebPage =>
  makePage({ home: 'index.html', urls, headers: HEADERS }, routes)
