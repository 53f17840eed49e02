import { StatusError } from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import { createApiForwarder, type ApiForwarder } from '../forward/api-forwarder.ts'
import { memberApi } from './member-api.ts'
import type { PushTarget } from './push-target.ts'

interface Open {
  /** Equal texts are the same target. */
  readonly version: string
  readonly forwarder: ApiForwarder
}

/** Keeps a forwarder open to each cluster in push mode that was asked for, as long as its target stays the same. */
export class PushForwarders implements Disposable {
  readonly #open = new Map<string, Open>()
  readonly #deps: { readonly clock: Clock; readonly log: Logger }

  constructor(deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#deps = deps
  }

  /** Throws StatusError ServiceUnavailable where the target has no token for users. */
  to(cluster: string, target: PushTarget): ApiForwarder {
    const { impersonator } = target
    if (impersonator === undefined) {
      throw unreachable(cluster, 'spec.impersonatorSecretRef names no secret with a token')
    }
    const version = JSON.stringify(target)
    const known = this.#open.get(cluster)
    if (known?.version === version) return known.forwarder
    this.close(cluster)
    const { clock, log } = this.#deps
    const api = memberApi(target, impersonator.token, clock)
    const asker = 'the token of spec.impersonatorSecretRef'
    const forwarder = createApiForwarder({ api, asker }, { clock, log: log.child({ cluster }) })
    this.#open.set(cluster, { version, forwarder })
    return forwarder
  }

  close(cluster: string): void {
    this.#open.get(cluster)?.forwarder[Symbol.dispose]()
    this.#open.delete(cluster)
  }

  [Symbol.dispose](): void {
    for (const cluster of this.#open.keys()) this.close(cluster)
  }
}

export function unreachable(cluster: string, why: string): StatusError {
  return new StatusError('ServiceUnavailable', `Cannot reach cluster "${cluster}": ${why}`)
}
