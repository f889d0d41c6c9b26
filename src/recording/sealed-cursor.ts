// A cursor as a caller gets it who may see only some of the files: nobody but the servers of this history can read in it
// how much was changed in others. Does not know what a cursor says.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

const FORM = '2.'
const CIPHER = 'aes-256-gcm'
const IV = 12
const TAG = 16
/** In bytes: a cursor is as long as a multiple of it, so that its length says little. */
const BLOCK = 128

const keyOf = (secret: Buffer): Buffer => createHmac('sha256', secret).update('\0cursor').digest()

/** Another text each time. `secret`: of all servers on this history. */
export function sealCursor(cursor: string, secret: Buffer): string {
  const iv = randomBytes(IV)
  const cipher = createCipheriv(CIPHER, keyOf(secret), iv)
  const padded = cursor.padEnd(Math.ceil(cursor.length / BLOCK) * BLOCK)
  const sealed = [iv, cipher.update(padded, 'latin1'), cipher.final(), cipher.getAuthTag()]
  return FORM + Buffer.concat(sealed).toString('base64url')
}

/** The cursor that was sealed; any other text as it is. */
export function unsealCursor(text: string, secret: Buffer): string {
  const sealed = Buffer.from(text.slice(FORM.length), 'base64url')
  if (!text.startsWith(FORM) || sealed.length < IV + TAG) return text
  const decipher = createDecipheriv(CIPHER, keyOf(secret), sealed.subarray(0, IV))
  decipher.setAuthTag(sealed.subarray(-TAG))
  try {
    const padded = decipher.update(sealed.subarray(IV, -TAG), undefined, 'latin1') + decipher.final('latin1')
    return padded.trimEnd()
  } catch {
    // It isn't one of ours.
    return text
  }
}
