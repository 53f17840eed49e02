import { argon2, createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '@skerry/base'
import type { UserInfo } from '../access.ts'
import { BoundedCache } from './bounded-cache.ts'
import { TokenError, type TokenAuthenticator } from './token-authenticator.ts'

/** One entry of the token file. The token itself is nowhere stored. */
export interface StaticToken {
  /** The part before the dot; finds the entry without trying every hash. */
  readonly id: string
  /** Base64 of 16 random bytes. */
  readonly salt: string
  /** Base64 of Argon2id over the part after the dot. */
  readonly hash: string
  readonly user: UserInfo
}

export const staticTokenDefaults = Object.freeze({
  /** OWASP's second profile for Argon2id: 19 MiB, two passes, one lane. */
  memoryKiB: 19_456,
  passes: 2,
  /** Hashes that run at a time; others wait, and beyond `waitingMax` are refused. */
  waitingMax: 64,
  cacheEntriesMax: 1024,
  cacheTtlMs: 10_000,
})

/** Makes a token of 256 random bits and what to keep of it. The text is shown once and not kept. */
export async function createStaticToken(
  user: UserInfo,
): Promise<{ token: string; entry: StaticToken }> {
  const id = randomBytes(6).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  const salt = randomBytes(16)
  const hash = await hashSecret(secret, salt)
  return {
    token: `${id}.${secret}`,
    entry: { id, salt: salt.toString('base64'), hash: hash.toString('base64'), user },
  }
}

/** Tokens from a file, for people and machines without certificates. One hash runs at a time. */
export function createStaticTokenAuthenticator(
  entries: readonly StaticToken[],
  clock: Clock,
): TokenAuthenticator {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const verified = new BoundedCache<boolean>(
    { entriesMax: staticTokenDefaults.cacheEntriesMax, ttlMs: staticTokenDefaults.cacheTtlMs },
    clock,
  )
  const inTurn = createTurns(staticTokenDefaults.waitingMax)
  return {
    async authenticateToken(token, audiences) {
      const [id = '', secret = '', ...more] = token.split('.')
      const entry = more.length === 0 ? byId.get(id) : undefined
      if (!entry) return undefined
      const cacheKey = createHash('sha256').update(token).digest('base64')
      let isValid = verified.get(cacheKey)
      if (isValid === undefined) {
        isValid = await inTurn(() => matches(entry, secret))
        verified.set(cacheKey, isValid)
      }
      if (!isValid) throw new TokenError('invalid bearer token')
      return { user: entry.user, audiences }
    },
  }
}

async function matches(entry: StaticToken, secret: string): Promise<boolean> {
  const hash = await hashSecret(secret, Buffer.from(entry.salt, 'base64'))
  const kept = Buffer.from(entry.hash, 'base64')
  return kept.length === hash.length && timingSafeEqual(hash, kept)
}

async function hashSecret(secret: string, salt: Buffer): Promise<Buffer> {
  return await promisify(argon2)('argon2id', {
    message: secret,
    nonce: salt,
    parallelism: 1,
    tagLength: 32,
    memory: staticTokenDefaults.memoryKiB,
    passes: staticTokenDefaults.passes,
  })
}

/** Runs one piece of work after the other; refuses when too many wait, so that guessing costs the guesser. */
function createTurns(waitingMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return async (work) => {
    if (waiting >= waitingMax) throw new TokenError('too many tokens are being verified')
    waiting++
    const mine = last.then(work)
    // Whoever waits for its turn does not care how the one before ended.
    last = mine.catch(() => undefined)
    try {
      return await mine
    } finally {
      waiting--
    }
  }
}
