import type { Node, Service } from '@skerry/api'
import { hostnameKey, topologyOf, zoneKey } from '@skerry/service-proxy'

/** A value of `spec.trafficDistribution`, by which every service proxy prefers endpoints that are near. */
export type Distribution = 'PreferSameZone' | 'PreferSameNode'

/** The way to keep a service's traffic near, or the reason why the cluster's proxies cannot. */
export type TrafficPlan = { readonly distribution: Distribution } | { readonly fault: string }

/** Decides how a service whose annotation keeps its traffic near gets the same by a field of Kubernetes. Pure. */
export function planTraffic(service: Service, nodes: readonly Node[]): TrafficPlan | undefined {
  let unread: string | undefined
  const topology = topologyOf(service, ({ annotation, value }) => {
    unread = `annotation ${annotation} has no such value: ${value}`
  })
  if (!topology) return unread === undefined ? undefined : { fault: unread }
  if (service.spec?.clusterIP === 'None') {
    return { fault: 'the names of a headless service lead to the pods of all places' }
  }
  const [key] = topology.keys
  if (key === undefined) return undefined
  if (key === hostnameKey) return { distribution: 'PreferSameNode' }
  const fault = key === zoneKey ? undefined : zoneFault(key, nodes)
  return fault === undefined ? { distribution: 'PreferSameZone' } : { fault }
}

/** Returns the reason why nodes that share a value of this label are not the nodes of one zone. */
function zoneFault(key: string, nodes: readonly Node[]): string | undefined {
  const zones = new Map<string, string>()
  const values = new Map<string, string>()
  for (const { metadata } of nodes) {
    const { name = '', labels = {} } = metadata
    const value = labels[key] ?? ''
    const zone = labels[zoneKey] ?? ''
    if (value === '' && zone === '') continue
    const isSame = (zones.get(value) ?? zone) === zone && (values.get(zone) ?? value) === value
    if (value === '' || zone === '' || !isSame) {
      return `proxies know zones alone, and node ${name} has ${key}="${value}" but ${zoneKey}="${zone}": label the nodes of each ${key} as a zone of their own`
    }
    zones.set(value, zone)
    values.set(zone, value)
  }
  return undefined
}
