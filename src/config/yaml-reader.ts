// Reads YAML into values, guided by a description of its fields; reports every fault with its line. Does not know any
// field.
import { closest } from 'fastest-levenshtein'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import { fail, ok, type Result } from '../result.ts'
import type { Kind } from './value-kinds.ts'

interface Reading {
  document: Document
  fault(node: Node | null, sentence: string): void
}

/** Turns a node into a value, with undefined for each faulty part. `where`: the node's name in a fault. */
type Reader<T> = (node: Node | null, where: string, reading: Reading) => T | undefined

interface Field<T> {
  read: Reader<T>
  required: boolean
}

export const required = <T>(read: Reader<T>): Field<T> & { required: true } => ({ read, required: true })
export const optional = <T>(read: Reader<T>): Field<T> & { required: false } => ({ read, required: false })

type Fields = Record<string, Field<unknown>>
type ValueOf<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { required: true; read: Reader<infer T> }
    ? T
    : F[Name] extends Field<infer T>
      ? T | undefined
      : never
}

const resolved = (node: Node | null, { document }: Reading): Node | null =>
  isAlias(node) ? (node.resolve(document) ?? null) : node

/** A text, exactly as written; `secret`: it isn't shown in a fault. */
export const scalar =
  <T>(kind: Kind<T>, { secret = false } = {}): Reader<T> =>
  (given, where, reading) => {
    const node = resolved(given, reading)
    const text = isScalar(node) && typeof node.value === 'string' ? node.value : undefined
    const parsed = text === undefined ? undefined : kind.parse(text)
    if (parsed?.ok) return parsed.value
    const expected = parsed === undefined ? kind.parse('\0') : parsed
    const shown = text === undefined || secret ? '' : ` "${text}"`
    reading.fault(given, `${where}${shown} is invalid: expected ${expected.ok ? 'some text' : expected.failure}.`)
    return undefined
  }

export const list =
  <T>(element: Reader<T>): Reader<T[]> =>
  (given, where, reading) => {
    const node = resolved(given, reading)
    if (!isSeq(node)) {
      reading.fault(given, `${where} is invalid: expected a list.`)
      return undefined
    }
    return node.items.map((item, i) => element(item as Node | null, `${where}[${i}]`, reading)) as T[]
  }

/** The entries of a map, in their order. */
function entriesOf(given: Node | null, where: string, reading: Reading): [Node, string, Node | null][] | undefined {
  const node = resolved(given, reading)
  if (isMap(node)) return node.items.map(({ key, value }) => [key as Node, String(key), value as Node | null])
  reading.fault(given, `${where === '' ? 'the file' : where} is invalid: expected a map of names and values.`)
  return undefined
}

/** A map from names to values of one kind, as a list. */
export const named =
  <T extends object>(name: Kind<string>, value: Reader<T>): Reader<(T & { name: string })[]> =>
  (given, where, reading) => {
    const entries = entriesOf(given, where, reading)
    return entries?.map(([key, text, node]) => {
      const parsed = name.parse(text)
      if (!parsed.ok) {
        reading.fault(key, `${where} has the name "${text}", which is invalid: expected ${parsed.failure}.`)
      }
      return { ...value(node, `${where}.${text}`, reading), name: text } as T & { name: string }
    })
  }

/** A map from texts to values, as a Map. */
export const map =
  <T>(key: Kind<string>, value: Reader<T>): Reader<Map<string, T>> =>
  (given, where, reading) => {
    const entries = entriesOf(given, where, reading)
    const values = new Map<string, T>()
    for (const [at, text, node] of entries ?? []) {
      const parsed = key.parse(text)
      if (!parsed.ok) reading.fault(at, `${where} has "${text}", which is invalid: expected ${parsed.failure}.`)
      const read = value(node, `${where}.${text}`, reading)
      if (parsed.ok && read !== undefined) values.set(parsed.value, read)
    }
    return entries && values
  }

/** A map with these fields and no others. */
export const record =
  <F extends Fields>(fields: F): Reader<ValueOf<F>> =>
  (given, where, reading) => {
    const entries = entriesOf(given, where, reading)
    if (entries === undefined) return undefined
    const prefix = where === '' ? '' : `${where}.`
    const values = new Map<string, unknown>()
    for (const [key, name, node] of entries) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (field === undefined) {
        const nearest = closest(name, Object.keys(fields))
        reading.fault(key, `${prefix}${name} is an unknown field: the nearest is ${nearest}.`)
      } else values.set(name, field.read(node, `${prefix}${name}`, reading))
    }
    for (const [name, field] of Object.entries(fields)) {
      if (field.required && !values.has(name)) reading.fault(given, `${prefix}${name} is missing.`)
    }
    return Object.fromEntries(values) as ValueOf<F>
  }

/** A value in which any part may be missing. */
export type Partly<T> =
  T extends Map<unknown, unknown>
    ? T
    : T extends readonly (infer E)[]
      ? (Partly<E> | undefined)[]
      : T extends object
        ? { [K in keyof T]?: Partly<T[K]> }
        : T

/** All faults, each a sentence that begins with the file and the line; and the value without the faulty parts. */
interface Faulty<T> {
  faults: string[]
  partly: Partly<T> | undefined
}

/** Parses a text. `file`: its name in sentences. */
export function readYaml<T>(text: string, file: string, read: Reader<T>): Result<T, Faulty<T>> {
  const lines = new LineCounter()
  // All scalars are texts: a hash of digits only isn't a number.
  const document = parseDocument(text, { schema: 'failsafe', lineCounter: lines, prettyErrors: false })
  const faults: string[] = []
  const add = (offset: number, sentence: string) => {
    faults.push(`${file}:${lines.linePos(offset).line}: ${sentence}`)
  }
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    // The library's own message is for programmers.
    add(pos[0], code === 'MULTIPLE_DOCS' ? 'a second document begins here: leave out --- and below.' : `${message}.`)
  }
  if (faults.length > 0) return fail({ faults, partly: undefined })
  const value = read(document.contents, '', {
    document,
    fault: (node, sentence) => add(node?.range?.[0] ?? 0, sentence)
  })
  return faults.length === 0 ? ok(value as T) : fail({ faults, partly: value as Partly<T> | undefined })
}
