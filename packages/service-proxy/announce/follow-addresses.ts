import type { Lease } from '@skerry/api'
import { createInformer, resources, type ClusterClient } from '@skerry/client'
import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { isIPv4 } from 'node:net'
import { serviceBalancer } from '../services/service-balancer.ts'
import type { Announcer } from './announcer.ts'

export interface FollowAddressesDeps {
  readonly cluster: ClusterClient
  readonly announcer: Announcer
  /** Called with whether this node is to announce anything. */
  readonly onAnnouncing: (isAnnouncing: boolean) => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const { leaseNamespace, addressLabel } = serviceBalancer

/** Lets the announcer have the addresses whose leases name this node. While the site is away, the last ones stay. */
export async function followAddresses(
  nodeName: string,
  deps: FollowAddressesDeps,
  signal: AbortSignal,
): Promise<void> {
  const leases = createInformer<Lease>(
    deps.cluster.resource(resources.leases),
    { namespace: leaseNamespace, labelSelector: addressLabel },
    deps,
  )
  const show = (): void => {
    const own = leases.list().filter(({ spec }) => spec?.holderIdentity === nodeName)
    const addresses = own.flatMap(({ metadata }) => metadata.labels?.[addressLabel] ?? [])
    deps.onAnnouncing(addresses.length > 0)
    deps.announcer.setWanted(new Set(addresses.filter((address) => isIPv4(address))))
  }
  await runAll(signal, [
    (scope) => leases.run(scope),
    async (scope) => {
      await leases.whenSynced(scope)
      show()
      leases.onChange(show)
    },
    (scope) => deps.announcer.run(scope),
  ])
}
