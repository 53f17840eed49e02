import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { createInformer, type ClusterClient } from '@skerry/client'
import type { TunnelRegistry, TunnelSession } from '@skerry/tunnel'
import { clusterResource, trafficContractResource } from '@skerry/fleet-kinds'
import { noContract, planTraffic } from './plan-traffic.ts'

export interface TrafficContractsParts {
  readonly cluster: ClusterClient
  /** The tunnels that end in this process; each replica of a hub handles its own. */
  readonly registry: Pick<TunnelRegistry, 'sessions' | 'identities'>
  /** Calls the listener with a cluster whose tunnels changed. */
  readonly onTunnel: (listener: (cluster: string) => void) => Disposable
}

/**
 * Applies each cluster's contract to its tunnels: when it connects, and when a contract or the cluster's
 * labels change. Without a contract the default rules hold. Runs until the signal aborts.
 */
export async function runTrafficContracts(
  { cluster, registry, onTunnel }: TrafficContractsParts,
  deps: { clock: Clock; random: Random; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const contracts = createInformer(cluster.resource(trafficContractResource), {}, deps)
  const clusters = createInformer(cluster.resource(clusterResource), {}, deps)
  /** The rules last sent to each tunnel; a new tunnel starts with the default rules. */
  const told = new WeakMap<TunnelSession, string>()
  const apply = (name: string): void => {
    // A half-read list would take a contract away for a moment.
    if (!contracts.hasSynced() || !clusters.hasSynced()) return
    const object = clusters.get({ namespace: '', name })
    const plan = object ? planTraffic(object, contracts.list()) : noContract
    const text = JSON.stringify(plan)
    for (const session of registry.sessions(name)) {
      if ((told.get(session) ?? defaultText) === text) continue
      told.set(session, text)
      session.setTraffic(plan)
      const { contract = '', toAgent, toHub } = plan
      deps.log.info('Traffic contract applied', {
        cluster: name,
        contract,
        downlinkBytesPerSecond: toAgent.rate?.bytesPerSecond ?? 0,
        uplinkBytesPerSecond: toHub.rate?.bytesPerSecond ?? 0,
        isObeyed: session.obeysTraffic,
      })
    }
  }
  const applyAll = (): void => registry.identities().forEach(apply)
  using _contracts = contracts.onChange(applyAll)
  using _clusters = clusters.onChange(({ object }) => apply(object.metadata.name ?? ''))
  using _tunnels = onTunnel(apply)
  await runAll(signal, [
    (scope) => contracts.run(scope),
    (scope) => clusters.run(scope),
    async (scope) => {
      await Promise.all([contracts.whenSynced(scope), clusters.whenSynced(scope)])
      applyAll()
    },
  ])
}

const defaultText = JSON.stringify(noContract)
