import type { Node, Pod, Service } from '@skerry/api'
import { sameAddressAs } from '@skerry/base'
import type { Objects } from '../../contract/objects.ts'
import { listTyped } from '../../contract/typed-objects.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'
import type { AddressTarget } from './backend-dial.ts'

/**
 * Returns which pod or service of another namespace the target is, as a phrase, or undefined.
 * Authors of endpoints can write any address (CVE-2021-25740), and this server dials from a node,
 * whose traffic NetworkPolicies allow. Stricter than upstream.
 */
export function otherNamespaceAt(
  objects: Objects,
  namespace: string,
  { host, port }: Pick<AddressTarget, 'host' | 'port'>,
): string | undefined {
  const isOther = ({ metadata }: Pod | Service): boolean => metadata.namespace !== namespace
  // The author of the endpoints chooses the spelling.
  const isSame = sameAddressAs(host)
  const pods = listTyped<Pod>(objects, wellKnown.pods)
  if (pods.some((pod) => isOther(pod) && hasAddress(pod, isSame)))
    return 'a pod of another namespace'
  const services = listTyped<Service>(objects, wellKnown.services).filter(isOther)
  if (services.some((service) => serviceAddresses(service).some(isSame))) {
    return 'a service of another namespace'
  }
  const takesPort = services.some(({ spec }) =>
    (spec?.ports ?? []).some(({ nodePort }) => nodePort === port),
  )
  return takesPort && isNodeAddress(objects, isSame)
    ? 'a node port of another namespace'
    : undefined
}

/** Compares the pod's own addresses: it has none while it uses its node's, and none after its end. */
function hasAddress({ spec, status }: Pod, isSame: (address: string) => boolean): boolean {
  if (status === undefined || spec?.hostNetwork === true) return false
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return false
  const { podIP = '', podIPs = [] } = status
  return isSame(podIP) || podIPs.some(({ ip }) => isSame(ip))
}

function serviceAddresses({ spec, status }: Service): string[] {
  const balanced = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
  const cluster = [...(spec?.clusterIPs ?? []), spec?.clusterIP ?? '']
  return [...cluster, ...(spec?.externalIPs ?? []), ...balanced]
}

function isNodeAddress(objects: Objects, isSame: (address: string) => boolean): boolean {
  return listTyped<Node>(objects, wellKnown.nodes).some(({ status }) =>
    (status?.addresses ?? []).some(({ address }) => isSame(address)),
  )
}
