import { isStatusError, type AnyObject, type GroupResource } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import { putObject } from './put-object.ts'

/** The place where clients in the cluster's network reach one API server of the site. */
export interface Master {
  readonly address: string
  readonly port: number
}

const endpoints: GroupResource = { group: '', resource: 'endpoints' }
const slices: GroupResource = { group: 'discovery.k8s.io', resource: 'endpointslices' }

const namespace = 'default'
const service = 'kubernetes'

/**
 * Publishes these API servers as the endpoints of the service `kubernetes`, as kube-apiserver does. Servers at other
 * ports than the first have a slice of their own.
 */
export async function publishApiEndpoints(
  objects: Objects,
  masters: readonly Master[],
): Promise<void> {
  // Without any server nobody could read it; the published ones stay: an address may come back.
  if (masters.length === 0) return
  const groups = [...addressesByPort(masters)]
  const meta = { name: service, namespace }
  await putObject(objects, endpoints, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...meta, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: groups.map(([port, addresses]) => ({
      addresses: addresses.map((ip) => ({ ip })),
      ports: portsOf(port),
    })),
  })
  const wanted = groups.map(([port, addresses], at) =>
    sliceOf(at === 0 ? service : `${service}-${port}`, port, addresses),
  )
  for (const slice of wanted) await putObject(objects, slices, slice)
  await removeOthers(objects, new Set(wanted.map(({ metadata }) => metadata.name ?? '')))
}

function addressesByPort(masters: readonly Master[]): Map<number, string[]> {
  const groups = new Map<number, string[]>()
  const sorted = masters.toSorted(
    (a, b) => a.port - b.port || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0),
  )
  for (const { port, address } of sorted) {
    const group = groups.get(port) ?? []
    if (!group.includes(address)) group.push(address)
    groups.set(port, group)
  }
  return groups
}

function sliceOf(name: string, port: number, addresses: readonly string[]): AnyObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: portsOf(port),
  }
}

function portsOf(port: number): AnyObject[string] {
  return [{ name: 'https', port, protocol: 'TCP' }]
}

/** Removes slices of ports at which no server is any more. */
async function removeOthers(objects: Objects, kept: ReadonlySet<string>): Promise<void> {
  const ours = new RegExp(`^${service}-\\d+$`)
  for (const { metadata } of objects.list(slices, namespace)) {
    const { name = '', labels } = metadata
    if (labels?.['kubernetes.io/service-name'] !== service) continue
    if (kept.has(name) || !ours.test(name)) continue
    try {
      await objects.delete(slices, namespace, name)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }
}
