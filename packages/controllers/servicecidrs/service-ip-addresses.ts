import { isIP } from 'node:net'
import type { IPAddress, Service } from '@skerry/api'
import { isStatusError } from '@skerry/api'
import { resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { serviceAllocatorName, managedByLabel } from './cidr-plan.ts'

const byAddress = 'service-by-address'

/**
 * Keeps one IPAddress object for each address of a service, which gives it to its owner. The API server writes them
 * together with the service; this repairs what was deleted by hand, and what earlier versions left.
 */
export const serviceIpAddressController: ControllerDefinition = {
  name: 'service-ip-address-controller',
  workers: 1,
  watches: [
    watch(resources.services, {
      keysOf: ({ object, old }) => [...new Set([...addressesOf(object), ...addressesOf(old)])],
      indexes: { [byAddress]: addressesOf },
    }),
    watch(resources.ipAddresses, { keysOf: ({ object }) => [object.metadata.name ?? ''] }),
  ],
  async reconcile(address, context, signal) {
    const [service] = context.informer(resources.services).byIndex(byAddress, address)
    const existing = context.informer(resources.ipAddresses).get({ name: address })
    const client = context.client(resources.ipAddresses)
    if (existing !== undefined) {
      const isOurs = existing.metadata.labels?.[managedByLabel] === serviceAllocatorName
      if (!isOurs || (service !== undefined && isOf(existing, service))) return
      // The service may be newer than what this informer has of it.
      if (await hasAddress(existing, context, signal)) return
      const { uid = '', resourceVersion = '' } = existing.metadata
      const preconditions = { uid, resourceVersion }
      await ignoreNotFound(client.delete({ name: address, preconditions }, signal))
    }
    if (service === undefined) return
    try {
      await client.create(objectOf(address, service), signal)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  },
}

/** Asks the API server whether the service that the object names has its address now. */
async function hasAddress(
  { metadata, spec }: IPAddress,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace = '', name } = spec?.parentRef ?? {}
  if (!name) return false
  try {
    const service = await context.client(resources.services).get({ namespace, name }, signal)
    return addressesOf(service).includes(metadata.name ?? '')
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false
    throw error
  }
}

function addressesOf(service: Service | undefined): string[] {
  const { clusterIP = '', clusterIPs = [] } = service?.spec ?? {}
  return [...new Set([clusterIP, ...clusterIPs])].filter((each) => isIP(each) !== 0)
}

function isOf({ spec }: IPAddress, { metadata }: Service): boolean {
  const { name, namespace } = spec?.parentRef ?? {}
  return name === metadata.name && namespace === metadata.namespace
}

function objectOf(address: string, { metadata }: Service): IPAddress {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name: address,
      labels: {
        'ipaddress.kubernetes.io/ip-family': isIP(address) === 4 ? 'IPv4' : 'IPv6',
        [managedByLabel]: serviceAllocatorName,
      },
    },
    spec: {
      parentRef: {
        group: '',
        resource: 'services',
        namespace: metadata.namespace ?? '',
        name: metadata.name ?? '',
      },
    },
  }
}
