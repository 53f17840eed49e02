import { StatusError } from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import type { TunnelHandler, TunnelRegistry, TunnelRequest } from '@skerry/tunnel'
import { isConnect } from '@skerry/gateway'
import { createApiForwarder, type ApiForwarder } from '../forward/api-forwarder.ts'
import { memberApi } from './member-api.ts'
import type { PushPlans, PushTarget } from './push-target.ts'

type Way = Pick<TunnelRegistry, 'send' | 'upgrade'>

export interface PushedWayDeps {
  readonly planOf: PushPlans
  readonly clock: Clock
  readonly log: Logger
}

interface Open {
  /** Equal texts mean the same way. */
  readonly version: string
  readonly forwarder: ApiForwarder
}

/**
 * Returns the way to the clusters of a hub, including those in push mode: each replica dials them itself, as
 * the requesting user. Dispose it to close open connections.
 */
export function pushedWay(way: Way, deps: PushedWayDeps): Way & Disposable {
  const open = new Map<string, Open>()
  const handlerOf = (cluster: string, request: TunnelRequest): TunnelHandler | undefined => {
    const plan = deps.planOf(cluster)
    if (plan === undefined) {
      close(open, cluster)
      return undefined
    }
    if ('refusal' in plan) throw unreachable(cluster, plan.refusal)
    if (isConnect(request)) {
      throw new StatusError(
        'NotFound',
        `Cannot reach services of cluster "${cluster}": it is in push mode, and only an agent reaches services`,
      )
    }
    return handlerFor(cluster, plan.target, open, deps)
  }
  return {
    async send(cluster, request, signal) {
      const handler = handlerOf(cluster, request)
      return handler ? handler.onRequest(request, signal) : way.send(cluster, request, signal)
    },
    async upgrade(cluster, request, signal) {
      const handler = handlerOf(cluster, request)
      return handler ? handler.onUpgrade(request, signal) : way.upgrade(cluster, request, signal)
    },
    [Symbol.dispose]() {
      for (const cluster of open.keys()) close(open, cluster)
    },
  }
}

function close(open: Map<string, Open>, cluster: string): void {
  open.get(cluster)?.forwarder[Symbol.dispose]()
  open.delete(cluster)
}

function handlerFor(
  cluster: string,
  target: PushTarget,
  open: Map<string, Open>,
  { clock, log }: PushedWayDeps,
): TunnelHandler {
  const { impersonator } = target
  if (impersonator === undefined) {
    throw unreachable(cluster, 'spec.impersonatorSecretRef names no secret with a token')
  }
  const version = JSON.stringify(target)
  const known = open.get(cluster)
  if (known?.version === version) return known.forwarder
  close(open, cluster)
  const api = memberApi(target, impersonator.token, clock)
  const asker = 'the token of spec.impersonatorSecretRef'
  const forwarder = createApiForwarder({ api, asker }, { clock, log: log.child({ cluster }) })
  open.set(cluster, { version, forwarder })
  return forwarder
}

function unreachable(cluster: string, why: string): StatusError {
  return new StatusError('ServiceUnavailable', `Cannot reach cluster "${cluster}": ${why}`)
}
