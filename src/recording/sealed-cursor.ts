// Encrypts cursors for callers that may see only some files, so that only the servers of this history can read in them
// how much changed in the others.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

const FORM = '2.'
const CIPHER = 'aes-256-gcm'
const IV = 12
const TAG = 16
/** In bytes. Cursors are padded to a multiple of it, so that their length reveals little. */
const BLOCK = 128

const keyOf = (secret: Buffer): Buffer => createHmac('sha256', secret).update('\0cursor').digest()

/** Seals a cursor into a different text each time. `secret`: shared by all servers of this history. */
export function sealCursor(cursor: string, secret: Buffer): string {
  const iv = randomBytes(IV)
  const cipher = createCipheriv(CIPHER, keyOf(secret), iv)
  const padded = cursor.padEnd(Math.ceil(cursor.length / BLOCK) * BLOCK)
  const sealed = [iv, cipher.update(padded, 'latin1'), cipher.final(), cipher.getAuthTag()]
  return FORM + Buffer.concat(sealed).toString('base64url')
}

/** Returns the sealed cursor; any other text unchanged. */
export function unsealCursor(text: string, secret: Buffer): string {
  const sealed = Buffer.from(text.slice(FORM.length), 'base64url')
  if (!text.startsWith(FORM) || sealed.length < IV + TAG) return text
  const decipher = createDecipheriv(CIPHER, keyOf(secret), sealed.subarray(0, IV))
  decipher.setAuthTag(sealed.subarray(-TAG))
  try {
    const padded = decipher.update(sealed.subarray(IV, -TAG), undefined, 'latin1') + decipher.final('latin1')
    return padded.trimEnd()
  } catch {
    // The text was not sealed by us.
    return text
  }
}
