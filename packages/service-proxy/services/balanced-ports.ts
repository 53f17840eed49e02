import type { Service } from '@skerry/api'
import { userOf, type MachinePorts } from './machine-ports.ts'
import { serviceBalancer } from './service-balancer.ts'
import { protocolOf } from './service-ports.ts'

/**
 * Returns the ports of load balancers that this node cannot serve at its own addresses, because something there uses
 * them, e.g. `22/tcp`. In order, each once. Pure.
 */
export function portsInUse(
  services: readonly Service[],
  machine: MachinePorts,
  nodeAddresses: readonly string[],
): string[] {
  const own = nodeAddresses.filter((address) => machine.addresses.has(address))
  const ports = services.flatMap(({ spec }) =>
    spec?.type === 'LoadBalancer' &&
    (spec.loadBalancerClass === undefined || spec.loadBalancerClass === serviceBalancer.className)
      ? (spec.ports ?? [])
      : [],
  )
  const used = ports.flatMap(({ port, protocol: given }) => {
    const protocol = protocolOf(given)
    const isUsed = own.some((address) => userOf(machine, { protocol, port, address }) !== undefined)
    return isUsed ? [`${port}/${protocol}`] : []
  })
  return [...new Set(used)].toSorted()
}
