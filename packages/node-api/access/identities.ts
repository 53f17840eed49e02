import { createHash } from 'node:crypto'
import { StatusError, type TokenReview } from '@skerry/api'
import {
  createServiceAccountVerifier,
  TokenError,
  type TokenAuthenticator,
  type UserInfo,
} from '@skerry/apiserver'
import { RecentMap, asError, type Clock, type Logger } from '@skerry/base'
import { readBody, resources, type ClusterClient, type HttpsTransport } from '@skerry/client'
import type { CopyFile } from '../copies/copy-file.ts'
import type { Link } from '../link/link.ts'
import { nodeApiBounds } from '../limits-table.ts'
import { readTokenKeys, type TokenKeys } from './key-set.ts'

const { tokensMax, acceptedMs, refusedMs, keysMs, keySetBytesMax } = nodeApiBounds.identities

export interface BoundPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface IdentitiesDeps {
  /** The control plane as the node itself, which may review tokens. */
  readonly cluster: ClusterClient
  /** Opens the way to the control plane without credentials. */
  readonly anonymous: HttpsTransport
  readonly file: CopyFile
  readonly link: Link
  /** Returns true if this pod is on the node. */
  readonly hasPod: (pod: BoundPod) => boolean
  readonly clock: Clock
  readonly log: Logger
}

interface Reviewed {
  /** Undefined if the token is bad. */
  readonly user: UserInfo | undefined
  readonly untilMs: number
}

/** Knows whose tokens readers show: by asking the control plane, and while it is away by the keys of its issuer. */
export class Identities {
  readonly #deps: IdentitiesDeps
  readonly #reviewed = new RecentMap<string, Reviewed>(tokensMax)
  #verifier: { keys: TokenKeys; tokens: TokenAuthenticator } | undefined
  #keysAtMs = -Infinity

  constructor(deps: IdentitiesDeps) {
    this.#deps = deps
    const stored = deps.file.fact('token-keys')
    // #refreshKeys wrote it.
    if (stored !== undefined) this.#use(JSON.parse(stored) as TokenKeys)
  }

  /** Asks the control plane. Throws StatusError Unauthorized. */
  async reviewed(token: string, signal: AbortSignal): Promise<UserInfo> {
    const { clock } = this.#deps
    const hash = createHash('sha256').update(token).digest('base64')
    const known = this.#reviewed.get(hash)
    const current = known && known.untilMs > clock.monotonicMs() ? known : undefined
    const user = current ? current.user : await this.#review(token, signal)
    if (!current) {
      const untilMs = clock.monotonicMs() + (user ? acceptedMs : refusedMs)
      this.#reviewed.set(hash, { user, untilMs })
    }
    if (!user) throw unauthorized()
    await this.#refreshKeys(token, signal)
    return user
  }

  /** Verifies the token here. Throws StatusError Unauthorized, or ServiceUnavailable without keys. */
  async verified(token: string, signal: AbortSignal): Promise<UserInfo> {
    const verifier = this.#verifier
    if (!verifier) {
      const why = 'this node does not have the keys of tokens, and the control plane is away'
      throw new StatusError('ServiceUnavailable', `Cannot authenticate: ${why}`, {
        details: { retryAfterSeconds: 10 },
      })
    }
    try {
      const { tokens, keys } = verifier
      const found = await tokens.authenticateToken(token, [keys.issuer], signal)
      if (found) return withAuthenticated(found.user)
    } catch (error) {
      if (!(error instanceof TokenError)) throw error
      this.#deps.log.debug('Authentication failed', { error })
    }
    throw unauthorized()
  }

  async #review(token: string, signal: AbortSignal): Promise<UserInfo | undefined> {
    const review: TokenReview = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: { token },
    }
    const { cluster } = this.#deps
    const { status } = await cluster.resource(resources.tokenReviews).create(review, signal)
    if (status?.authenticated !== true || !status.user?.username) return undefined
    const { username: name, uid, groups = [], extra = {} } = status.user
    return withAuthenticated({ name, ...(uid ? { uid } : {}), groups, extra })
  }

  /** Pods may read the keys, and nodes may not. */
  async #refreshKeys(token: string, signal: AbortSignal): Promise<void> {
    const { clock, file, log } = this.#deps
    if (clock.monotonicMs() - this.#keysAtMs < keysMs) return
    this.#keysAtMs = clock.monotonicMs()
    try {
      const configuration = await this.#document('/.well-known/openid-configuration', token, signal)
      const keySet = await this.#document('/openid/v1/jwks', token, signal)
      const keys = readTokenKeys(configuration, keySet)
      this.#use(keys)
      file.putFact('token-keys', JSON.stringify(keys))
    } catch (error) {
      // The next reader's token may do.
      this.#keysAtMs = -Infinity
      signal.throwIfAborted()
      log.debug('Keys of tokens not read', { error: asError(error) })
    }
  }

  async #document(path: string, token: string, signal: AbortSignal): Promise<unknown> {
    const headers = { authorization: `Bearer ${token}`, accept: '*/*' }
    const { anonymous } = this.#deps
    const { status, body } = await anonymous.send({ method: 'GET', path, headers }, signal)
    const bytes = await readBody(body, keySetBytesMax)
    if (status !== 200) throw new Error(`Cannot read ${path}: it has status ${status}`)
    return JSON.parse(bytes.toString('utf8'))
  }

  #use(keys: TokenKeys): void {
    const { clock, hasPod } = this.#deps
    const { issuer, keyPems } = keys
    const tokens = createServiceAccountVerifier({
      issuers: [issuer],
      keyPems,
      clock,
      checkBound({ namespace, pod, secret }) {
        if (secret) throw new TokenError('tokens of secrets cannot be checked on a node')
        if (pod && !hasPod({ namespace, ...pod })) {
          throw new TokenError('service account token has been invalidated')
        }
      },
    })
    this.#verifier = { keys, tokens }
  }
}

function withAuthenticated(user: UserInfo): UserInfo {
  const group = 'system:authenticated'
  if (user.groups.includes(group)) return user
  return { ...user, groups: [...user.groups, group] }
}

function unauthorized(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized')
}
