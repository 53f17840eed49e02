import { argon2, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { StatusError } from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { UserInfo } from '../contract/access.ts'
import { BoundedCache } from './bounded-cache.ts'
import { TokenError, type TokenAuthenticator } from './token-authenticator.ts'
import { staticTokenDefaults } from '../limits-table.ts'

/** The stored form of one token. The token itself is never stored. */
export interface StaticToken {
  /** The part before the dot. It finds the entry without trying every hash. */
  readonly id: string
  /** Base64 of 16 random bytes. */
  readonly salt: string
  /** Base64 of Argon2id of the part after the dot. */
  readonly hash: string
  readonly user: UserInfo
}

/** Returns the current entry with this id, or undefined if there is none. */
export type FindStaticToken = (id: string) => StaticToken | undefined

/** Creates a token of 256 random bits and its stored form. The text is shown once and not kept. */
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

/**
 * Authenticates people and machines without certificates by tokens that are stored as hashes. A
 * good token is cached until it has not been used for a minute, by its HMAC under a key of this
 * process; removing or replacing its entry revokes it at once. However many clients guess, one hash
 * runs at a time, so memory and CPU are bounded; when too many wait, others get TooManyRequests.
 */
export function createStaticTokenAuthenticator(
  find: FindStaticToken,
  clock: Clock,
): TokenAuthenticator {
  const { cacheEntriesMax, cacheTtlMs, secretCharsMax } = staticTokenDefaults
  const options = { entriesMax: cacheEntriesMax, ttlMs: cacheTtlMs }
  /** Maps the HMAC of a good token to the hash that it matched. */
  const verified = new BoundedCache<string>(options, clock)
  const key = randomBytes(32)
  const inTurn = createTurns()
  /** Connections that open together share one verification. */
  const running = new Map<string, Promise<boolean>>()
  const verify = (entry: StaticToken, secret: string, mac: string): Promise<boolean> => {
    const work = `${mac}\n${entry.hash}`
    const begun = running.get(work)
    if (begun) return begun
    const answer = inTurn(entry.id, () => matches(entry, secret)).finally(() =>
      running.delete(work),
    )
    running.set(work, answer)
    return answer
  }
  return {
    async authenticateToken(token, audiences) {
      const [id = '', secret = '', ...more] = token.split('.', 3)
      const entry = more.length === 0 ? find(id) : undefined
      if (!entry) return undefined
      if (secret.length > secretCharsMax) throw new TokenError('invalid bearer token')
      const mac = createHmac('sha256', key).update(token).digest('base64')
      if (verified.get(mac) !== entry.hash) {
        if (!(await verify(entry, secret, mac))) throw new TokenError('invalid bearer token')
        // The entry may have been removed while the hash ran.
        if (find(id)?.hash !== entry.hash) throw new TokenError('invalid bearer token')
      }
      verified.set(mac, entry.hash)
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

type Turns = <T>(id: string, work: () => Promise<T>) => Promise<T>

/**
 * Runs one piece of work after the other. Refuses work if too much is waiting, so that guessing
 * costs only the guesser.
 */
function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const waitingOf = new Map<string, number>()
  return async (id, work) => {
    const { waitingMax, waitingPerIdMax } = staticTokenDefaults
    const own = waitingOf.get(id) ?? 0
    if (waiting >= waitingMax || own >= waitingPerIdMax) throw tooManyTokens()
    waiting++
    waitingOf.set(id, own + 1)
    const mine = last.then(work)
    // The next in turn does not depend on how the previous one ended.
    last = mine.catch(() => undefined)
    try {
      return await mine
    } finally {
      waiting--
      const left = (waitingOf.get(id) ?? 1) - 1
      if (left === 0) waitingOf.delete(id)
      else waitingOf.set(id, left)
    }
  }
}

function tooManyTokens(): StatusError {
  return new StatusError('TooManyRequests', 'Too many tokens are being verified, try again', {
    details: { retryAfterSeconds: 1 },
  })
}
