import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { StoreBusyError } from '@skerry/store'
import { etcdServerBounds } from '../limits-table.ts'

const { hashesAtOnceMax, hashesWaitingMax, saltBytes, hashBytes } = etcdServerBounds.passwordHash

/** RFC 7914. One hash takes 16 MiB and some hundredths of a second. */
const cost = Object.freeze({ N: 16_384, r: 8, p: 1 })

/** Returns a text from which the password cannot be read: the costs, the salt and the hash. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await hashOf(password, salt, hashBytes, cost)
  const { N, r, p } = cost
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Returns true if the text was made from this password. Throws StoreBusyError if too many ask at once. */
export async function isPasswordOf(text: string, password: string): Promise<boolean> {
  const [name, N, r, p, salt = '', hash = ''] = text.split('$')
  const known = Buffer.from(hash, 'base64url')
  if (name !== 'scrypt' || known.length === 0) return false
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const found = await hashOf(password, Buffer.from(salt, 'base64url'), known.length, options)
  return timingSafeEqual(found, known)
}

let running = 0
const waiting: (() => void)[] = []

/** Node's few threads also read files, so only some of them hash, and strangers cannot fill the memory. */
async function hashOf(
  password: string,
  salt: Buffer,
  bytes: number,
  options: ScryptOptions,
): Promise<Buffer> {
  if (waiting.length >= hashesWaitingMax) {
    throw new StoreBusyError(`Cannot check a password: ${hashesWaitingMax} others wait`)
  }
  if (running >= hashesAtOnceMax) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)))
    })
  } finally {
    // The place goes to the next one as it is.
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}
