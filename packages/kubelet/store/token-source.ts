import { asError, withTimeout, type Clock, type Logger } from '@skerry/base'
import { StatusError, type AnyObject, type KubeObject } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import { specOf } from '../pod/pod-spec.ts'
import { refreshTime } from '../volumes/projected-files.ts'
import { VolumeError, type ServiceAccountToken, type TokenRequest } from '../volumes/volume.ts'
import type { ObjectDisk } from './object-disk.ts'
import { kubeletBounds } from '../limits-table.ts'

interface StoredToken extends KubeObject {
  token: ServiceAccountToken
}

const resource = 'tokens'
const { retryMs, requestTimeoutMs } = kubeletBounds.tokenSource

export interface TokenSourceDeps {
  cluster: ClusterClient
  clock: Clock
  log: Logger
  disk: ObjectDisk
  standIn?: StandIn | undefined
}

/**
 * Returns a token that this node has signed in the place of one that has ended or ends soon. Returns undefined if that
 * one is still good, or if no node may replace it.
 */
export type StandIn = (token: string) => ServiceAccountToken | undefined

/**
 * Returns tokens bound to pods, requested once and renewed before they expire. Without the API the node signs tokens in
 * the place of those that end. If it cannot, an old token stays in use: a pod that does not use the API can start anyway.
 */
export class TokenSource {
  readonly #deps: TokenSourceDeps
  /** The API's own tokens. */
  readonly #tokens = new Map<string, ServiceAccountToken>()
  /** The node's tokens in their place. */
  readonly #standIns = new Map<string, ServiceAccountToken>()

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps
  }

  async load(): Promise<void> {
    for (const [key, stored] of await this.#deps.disk.load<StoredToken>(resource)) {
      this.#tokens.set(key, stored.token)
    }
  }

  async token(request: TokenRequest, signal: AbortSignal): Promise<ServiceAccountToken> {
    const key = `${request.pod.metadata.uid}/${request.audience}/${request.expirationSeconds}`
    const known = this.#tokens.get(key)
    const { clock } = this.#deps
    const nowMs = clock.now()
    // A token from the future was issued by a fast clock, and servers refuse it until then.
    if (known && known.issuedAtMs <= nowMs && refreshTime(known) > nowMs) return known
    try {
      const message = 'no answer from the API in time'
      const token = await withTimeout({ ms: requestTimeoutMs, message, clock }, signal, (scope) =>
        this.#request(request, scope),
      )
      this.#tokens.set(key, token)
      this.#standIns.delete(key)
      const metadata = { name: key }
      const stored: StoredToken = { apiVersion: 'v1', kind: 'Token', metadata, token }
      this.#deps.disk.put({ resource, key }, stored)
      return token
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof StatusError) {
        throw new VolumeError(`failed to fetch token: ${error.message}`, { cause: error })
      }
      if (!known) {
        const message = `failed to fetch token: ${asError(error).message}`
        throw new VolumeError(message, { cause: error })
      }
      this.#deps.log.debug('Token not renewed', { error: asError(error) })
      const { token } = this.#standInFor(key, known)
      // Counts as fresh for a minute only, so that it is tried again.
      return { token, issuedAtMs: nowMs, expiresAtMs: nowMs + retryMs / 0.8 }
    }
  }

  /** Returns the API's own tokens of a pod. */
  given(podUid: string): string[] {
    const all = [...this.#tokens].filter(([key]) => key.startsWith(`${podUid}/`))
    return all.map(([, { token }]) => token)
  }

  /** Forgets the tokens of a pod that is gone. */
  forget(podUid: string): void {
    for (const key of this.#tokens.keys()) {
      if (!key.startsWith(`${podUid}/`)) continue
      this.#tokens.delete(key)
      this.#standIns.delete(key)
      this.#deps.disk.remove({ resource, key })
    }
  }

  #standInFor(key: string, known: ServiceAccountToken): ServiceAccountToken {
    const { standIn, clock, log } = this.#deps
    const nowMs = clock.now()
    const present = this.#standIns.get(key)
    if (present && present.issuedAtMs <= nowMs && refreshTime(present) > nowMs) return present
    const signed = standIn?.(known.token)
    if (!signed) return known
    this.#standIns.set(key, signed)
    log.debug('Token signed by this node', { expires: new Date(signed.expiresAtMs).toISOString() })
    return signed
  }

  async #request(request: TokenRequest, signal: AbortSignal): Promise<ServiceAccountToken> {
    const { pod, audience, expirationSeconds } = request
    const { namespace = '', name = '', uid = '' } = pod.metadata
    const issuedAtMs = this.#deps.clock.now()
    const answer = await this.#deps.cluster.resource(resources.serviceAccounts).createSubresource(
      {
        namespace,
        name: specOf(pod).serviceAccountName || 'default',
        subresource: 'token',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: {},
          spec: {
            audiences: audience ? [audience] : [],
            expirationSeconds,
            boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
          },
        },
      },
      signal,
    )
    const { token, expirationTimestamp } = statusOf(answer)
    return { token, issuedAtMs, expiresAtMs: Date.parse(expirationTimestamp) }
  }
}

function statusOf(answer: AnyObject): { token: string; expirationTimestamp: string } {
  const { token, expirationTimestamp } = (answer['status'] ?? {}) as Record<string, unknown> // tested below
  if (typeof token === 'string' && typeof expirationTimestamp === 'string') {
    return { token, expirationTimestamp }
  }
  throw new TypeError('Cannot read token: the answer has none')
}
