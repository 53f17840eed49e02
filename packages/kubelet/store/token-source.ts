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

/**
 * Returns tokens bound to pods, requested once and renewed before they expire. Without the API an old token
 * stays in use, even an expired one: a pod that does not use the API can start anyway.
 */
export class TokenSource {
  readonly #deps: { cluster: ClusterClient; clock: Clock; log: Logger; disk: ObjectDisk }
  readonly #tokens = new Map<string, ServiceAccountToken>()

  constructor(deps: { cluster: ClusterClient; clock: Clock; log: Logger; disk: ObjectDisk }) {
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
      // Counts as fresh for a minute only, so that it is tried again.
      return { ...known, issuedAtMs: nowMs, expiresAtMs: nowMs + retryMs / 0.8 }
    }
  }

  /** Forgets the tokens of a pod that is gone. */
  forget(podUid: string): void {
    for (const key of this.#tokens.keys()) {
      if (!key.startsWith(`${podUid}/`)) continue
      this.#tokens.delete(key)
      this.#deps.disk.remove({ resource, key })
    }
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
