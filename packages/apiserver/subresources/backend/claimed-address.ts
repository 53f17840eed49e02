import type { Node, Pod, Service } from '@skerry/api'
import type { Objects } from '../../contract/objects.ts'
import { listTyped } from '../../contract/typed-objects.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'
import type { AddressTarget } from './backend-dial.ts'

/**
 * Returns what of another namespace the target is, as a phrase, or undefined. Endpoints are whatever
 * somebody with the right to write them has written (CVE-2021-25740), and this server dials from a node,
 * whose traffic NetworkPolicies let through. Stricter than upstream.
 */
export function otherNamespaceAt(
  objects: Objects,
  namespace: string,
  { host, port }: Pick<AddressTarget, 'host' | 'port'>,
): string | undefined {
  const isOther = ({ metadata }: Pod | Service): boolean => metadata.namespace !== namespace
  const pods = listTyped<Pod>(objects, wellKnown.pods)
  if (pods.some((pod) => isOther(pod) && hasAddress(pod, host))) return 'a pod of another namespace'
  const services = listTyped<Service>(objects, wellKnown.services).filter(isOther)
  if (services.some((service) => serviceAddresses(service).includes(host))) {
    return 'a service of another namespace'
  }
  const takesPort = services.some(({ spec }) =>
    (spec?.ports ?? []).some(({ nodePort }) => nodePort === port),
  )
  return takesPort && isNodeAddress(objects, host) ? 'a node port of another namespace' : undefined
}

/** For the pod's own addresses: it has none while it uses its node's, and none after its end. */
function hasAddress({ spec, status }: Pod, host: string): boolean {
  const isShown = status?.podIP === host || (status?.podIPs ?? []).some(({ ip }) => ip === host)
  if (!isShown || spec?.hostNetwork === true) return false
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

function serviceAddresses({ spec, status }: Service): string[] {
  const balanced = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
  const cluster = [...(spec?.clusterIPs ?? []), spec?.clusterIP ?? '']
  return [...cluster, ...(spec?.externalIPs ?? []), ...balanced]
}

function isNodeAddress(objects: Objects, host: string): boolean {
  return listTyped<Node>(objects, wellKnown.nodes).some(({ status }) =>
    (status?.addresses ?? []).some(({ address }) => address === host),
  )
}
