import type {
  EndpointSlice,
  IPAddress,
  Ingress,
  IngressClass,
  IngressRule,
  NetworkPolicy,
  ServiceCIDR,
  Column,
} from '@skerry/api'
import { ageCell, columnsOf, firstFew, joined, nameCell, orText, selectorText } from './column.ts'
import { balancerAddresses, slicePortTexts } from './endpoint-cells.ts'

const ingress = columnsOf<Ingress>([
  nameCell,
  { name: 'Class', cell: ({ spec }) => spec?.ingressClassName ?? '<none>' },
  { name: 'Hosts', cell: ({ spec }) => hostsText(spec?.rules) },
  { name: 'Address', cell: ({ status }) => joined(balancerAddresses(status?.loadBalancer)) },
  { name: 'Ports', cell: ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80') },
  ageCell,
])

const ingressClass = columnsOf<IngressClass>([
  {
    ...nameCell,
    cell: ({ metadata }) => {
      const isDefault = metadata.annotations?.['ingressclass.kubernetes.io/is-default-class']
      return isDefault === 'true' ? `${metadata.name} (default)` : (metadata.name ?? '')
    },
  },
  { name: 'Controller', cell: ({ spec }) => spec?.controller ?? '' },
  {
    name: 'Parameters',
    cell: ({ spec }) => {
      if (!spec?.parameters) return '<none>'
      const { kind, apiGroup, name } = spec.parameters
      return `${!apiGroup ? kind : `${kind}.${apiGroup}`}/${name}`
    },
  },
  ageCell,
])

const endpointSlice = columnsOf<EndpointSlice>([
  nameCell,
  { name: 'AddressType', cell: ({ addressType }) => addressType },
  {
    name: 'Ports',
    cell: ({ ports }) => orText(firstFew(slicePortTexts(ports ?? []), 3), '<unset>'),
  },
  {
    name: 'Endpoints',
    cell: ({ endpoints }) => {
      const addresses = (endpoints ?? []).flatMap((endpoint) => endpoint.addresses)
      return orText(firstFew(addresses, 3), '<unset>')
    },
  },
  ageCell,
])

export const networkingColumns: Readonly<Record<string, readonly Column[]>> = Object.freeze({
  'networking.k8s.io/Ingress': ingress,
  'networking.k8s.io/IngressClass': ingressClass,
  'networking.k8s.io/NetworkPolicy': columnsOf<NetworkPolicy>([
    nameCell,
    { name: 'Pod-Selector', cell: ({ spec }) => selectorText(spec?.podSelector ?? {}) },
    ageCell,
  ]),
  'networking.k8s.io/ServiceCIDR': columnsOf<ServiceCIDR>([
    nameCell,
    { name: 'CIDRs', cell: ({ spec }) => joined(spec?.cidrs) },
    ageCell,
  ]),
  'networking.k8s.io/IPAddress': columnsOf<IPAddress>([
    nameCell,
    { name: 'ParentRef', cell: parentText },
  ]),
  'discovery.k8s.io/EndpointSlice': endpointSlice,
})

/** The number after the first three counts rules, including those without a host. */
function hostsText(all: readonly IngressRule[] | undefined): string {
  const rules = all ?? []
  const hosts: string[] = []
  for (const { host } of rules) {
    if (hosts.length === 3) return `${joined(hosts)} + ${rules.length - 3} more...`
    if (host) hosts.push(host)
  }
  return orText(joined(hosts), '*')
}

function parentText({ spec }: IPAddress): string {
  if (!spec?.parentRef) return '<none>'
  const { group, resource, namespace, name } = spec.parentRef
  const type = (group ? `${resource}.${group}` : resource).toLowerCase()
  return [type, ...(namespace ? [namespace] : []), name].join('/')
}
