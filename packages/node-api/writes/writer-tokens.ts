import { isJsonObject } from '@skerry/api'
import type { Clock } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { nodeApiBounds } from '../limits-table.ts'
import type { Writer } from './journaled-write.ts'

const { tokenSeconds, tokenUseMs, tokensMax } = nodeApiBounds.writerTokens

/**
 * Gets tokens of the accounts that wrote on this node. A node may ask for tokens of pods that are bound to it and of no
 * others, so that replaying needs no right to act as somebody else.
 */
export class WriterTokens {
  readonly #cluster: ClusterClient
  readonly #clock: Clock
  readonly #tokens = new Map<string, { readonly token: string; readonly untilMs: number }>()

  constructor(deps: { readonly cluster: ClusterClient; readonly clock: Clock }) {
    this.#cluster = deps.cluster
    this.#clock = deps.clock
  }

  /** Rejects with a StatusError, e.g. if the pod is gone. */
  async tokenOf({ account, pod }: Writer, signal: AbortSignal): Promise<string> {
    const known = this.#tokens.get(pod.uid)
    if (known && known.untilMs > this.#clock.monotonicMs()) return known.token
    const untilMs = this.#clock.monotonicMs() + tokenUseMs
    const answer = await this.#cluster.resource(resources.serviceAccounts).createSubresource(
      {
        ...account,
        subresource: 'token',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: {},
          spec: {
            expirationSeconds: tokenSeconds,
            boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid },
          },
        },
      },
      signal,
    )
    const { status } = answer
    const token = isJsonObject(status) ? status['token'] : undefined
    if (typeof token !== 'string') throw new TypeError('Cannot read token: the answer has none')
    if (this.#tokens.size >= tokensMax) this.#tokens.clear()
    this.#tokens.set(pod.uid, { token, untilMs })
    return token
  }

  /** Call this when the control plane has not accepted the pod's token. */
  forget({ pod }: Writer): void {
    this.#tokens.delete(pod.uid)
  }
}
