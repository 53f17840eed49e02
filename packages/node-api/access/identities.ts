import { createHash } from 'node:crypto'
import { StatusError, type TokenReview } from '@skerry/api'
import {
  createNodeTokenVerifier,
  createServiceAccountVerifier,
  TokenError,
  type AuthenticatedUser,
  type TokenAuthenticator,
  type UserInfo,
} from '@skerry/apiserver'
import { RecentMap, asError, type Clock, type Logger } from '@skerry/base'
import { readBody, resources, type ClusterClient, type HttpsTransport } from '@skerry/client'
import type { CopyFile } from '../copies/copy-file.ts'
import type { Link } from '../link/link.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { LocalNode } from './local-node.ts'
import { readTokenKeys, type TokenKeys } from './key-set.ts'
import { OwnCertificates } from './own-certificates.ts'

const { tokensMax, acceptedMs, refusedMs, keysMs, keySetBytesMax } = nodeApiBounds.identities

export interface IdentitiesDeps {
  /** The control plane as the node itself, which may review tokens. */
  readonly cluster: ClusterClient
  /** Opens the way to the control plane without credentials. */
  readonly anonymous: HttpsTransport
  readonly file: CopyFile
  readonly link: Link
  readonly node: Pick<LocalNode, 'hasPod' | 'certificatePem'>
  readonly nodeName: string
  readonly clock: Clock
  readonly log: Logger
}

interface Reviewed {
  /** Undefined if the token is bad. */
  readonly user: UserInfo | undefined
  readonly untilMs: number
}

/**
 * Knows whose tokens readers show: by asking the control plane, and while it is away by the keys of its issuer, or by
 * this node's own.
 */
export class Identities implements TokenAuthenticator {
  readonly #deps: IdentitiesDeps
  readonly #own: TokenAuthenticator
  readonly #reviewed = new RecentMap<string, Reviewed>(tokensMax)
  #verifier: { keys: TokenKeys; tokens: TokenAuthenticator } | undefined
  #keysAtMs = -Infinity

  constructor(deps: IdentitiesDeps) {
    this.#deps = deps
    this.#own = this.#ownTokens()
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
    try {
      const found = await this.authenticateToken(token, [this.audience()], signal)
      if (found) return withAuthenticated(found.user)
    } catch (error) {
      if (!(error instanceof TokenError)) throw error
      this.#deps.log.debug('Authentication failed', { error })
    }
    throw unauthorized()
  }

  /** The audience of tokens that request none. Throws StatusError ServiceUnavailable without keys. */
  audience(): string {
    return this.#verifying().keys.issuer
  }

  /** Does the same for a token that its bearer has shown to somebody else. */
  async authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<AuthenticatedUser | undefined> {
    const { tokens } = this.#verifying()
    const own = await this.#own.authenticateToken(token, audiences, signal)
    return own ?? (await tokens.authenticateToken(token, audiences, signal))
  }

  #verifying(): { keys: TokenKeys; tokens: TokenAuthenticator } {
    if (this.#verifier) return this.#verifier
    const why = 'this node does not have the keys of tokens, and the control plane is away'
    throw new StatusError('ServiceUnavailable', `Cannot authenticate: ${why}`, {
      details: { retryAfterSeconds: 10 },
    })
  }

  /** Accepts tokens that this node has signed for pods that are still on it. */
  #ownTokens(): TokenAuthenticator {
    const { clock, node, nodeName } = this.#deps
    const certificates = new OwnCertificates(() => node.certificatePem())
    return createNodeTokenVerifier({
      clock,
      check: ({ namespace, pod, node: { name }, certificatePem }) => {
        if (name !== nodeName || !certificates.has(certificatePem)) {
          throw new TokenError('the token is of another node')
        }
        if (!node.hasPod({ namespace, ...pod })) throw podIsGone()
      },
    })
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
    const { clock, node } = this.#deps
    const { issuer, keyPems } = keys
    const tokens = createServiceAccountVerifier({
      issuers: [issuer],
      keyPems,
      clock,
      checkBound({ namespace, pod, secret }) {
        if (secret) throw new TokenError('tokens of secrets cannot be checked on a node')
        if (pod && !node.hasPod({ namespace, ...pod })) throw podIsGone()
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

function podIsGone(): TokenError {
  return new TokenError('service account token has been invalidated')
}

function unauthorized(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized')
}
