// Bytes as JSON: a string if they are UTF-8, otherwise base64.
import { isUtf8 } from 'node:buffer'

type JsonBytes = string | { base64: string }

export const toJson = (bytes: Buffer): JsonBytes =>
  isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') }

/** Null: the value isn't from `toJson`. */
export function fromJson(value: unknown): Buffer | null {
  if (typeof value === 'string') return Buffer.from(value)
  return isObject(value) && typeof value.base64 === 'string' ? Buffer.from(value.base64, 'base64') : null
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
