import type { Node, Service } from '@skerry/api'
import { listTyped } from '../contract/typed-objects.ts'
import type { Objects } from '../contract/objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'

/**
 * Returns the service whose external address the node newly claims, or undefined if there is none.
 * Nodes of this cluster do not serve a service at an address that a node has, so a node that claims
 * a service's address disables it on all of them.
 */
export function serviceAtNodeAddress(
  next: Node,
  old: Node,
  objects: Objects,
): { readonly service: string; readonly address: string } | undefined {
  const before = new Set(addressesOf(old))
  const added = new Set(addressesOf(next).filter((address) => !before.has(address)))
  if (added.size === 0) return undefined
  for (const service of listTyped<Service>(objects, wellKnown.services)) {
    const address = externalAddressesOf(service).find((each) => added.has(each))
    const { namespace = '', name = '' } = service.metadata
    if (address !== undefined) return { service: `${namespace}/${name}`, address }
  }
  return undefined
}

function addressesOf({ status }: Node): string[] {
  return (status?.addresses ?? []).map(({ address }) => address)
}

function externalAddressesOf({ spec, status }: Service): string[] {
  const ingress = status?.loadBalancer?.ingress ?? []
  return [...(spec?.externalIPs ?? []), ...ingress.flatMap(({ ip }) => ip ?? [])]
}
