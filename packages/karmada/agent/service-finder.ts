import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { StatusError, isStatusError, type EndpointSlice, type Service } from '@skerry/api'
import { withTimeout, type Clock } from '@skerry/base'
import { resources, type Cluster } from '@skerry/client'
import {
  allowancesOf,
  coversPort,
  isExact,
  type AllowedService,
} from '../services/allowed-service.ts'
import { serviceText, type EdgeService } from '../services/edge-service.ts'
import { servicesLimits } from '../services/services-limits.ts'
import { isSpecialAddress, sameAddress } from './special-address.ts'

/** Where a service is right now. */
export interface FoundService {
  /** At least one; none of them is a node's or of the machine's own sort. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[]
  /** The Service says that this port speaks HTTP/2 without TLS. */
  readonly isHttp2: boolean
}

export interface ServiceFinder {
  /** Throws Forbidden, NotFound or ServiceUnavailable, in words for whoever asked. */
  find(service: EdgeService, signal: AbortSignal): Promise<FoundService>
}

export interface ServiceFinderDeps {
  /** With the agent's own rights. */
  readonly local: Cluster
  readonly clock: Clock
}

interface Known {
  readonly object: Service
  readonly slices: readonly EndpointSlice[]
}

/** Finds what the edge's operator allows, and nothing else: what is not allowed is not even looked up. */
export function createServiceFinder(
  allowed: readonly AllowedService[],
  { local, clock }: ServiceFinderDeps,
): ServiceFinder {
  const services = createMemory<Known>(servicesLimits.serviceFreshMs, clock)
  const nodes = createMemory<readonly string[]>(servicesLimits.nodesFreshMs, clock)
  return {
    async find(service, signal) {
      const allowances = allowancesOf(allowed, service)
      if (allowances.length === 0) throw notAllowed(service)
      const key = `${service.namespace}/${service.name}`
      const known = await services.get(key, () => readService(local, service, signal))
      const port = portOf(known.object, service)
      const names = [String(port.port), port.name ?? '']
      const covering = allowances.filter((each) => coversPort(each, names))
      if (covering.length === 0) throw notAllowed(service)
      const isNamed = covering.some(isExact)
      const found = await addressesOf(known, { service, port, isNamed }, signal)
      const nodeAddresses = await nodes.get('', () => readNodeAddresses(local, signal))
      const isRefused = (host: string): boolean =>
        isSpecialAddress(host) || nodeAddresses.some((each) => sameAddress(each, host))
      const addresses = found.filter(({ host }) => !isRefused(host))
      if (addresses.length > 0) return { addresses, isHttp2: speaksHttp2(port) }
      if (found.length > 0) {
        const why = "it leads to a node or to an address of the machine's own"
        throw new StatusError('Forbidden', `the agent does not dial it: ${why}`)
      }
      throw new StatusError('ServiceUnavailable', 'it has no ready endpoints')
    },
  }
}

function notAllowed(service: EdgeService): StatusError {
  const flag = `--allow-service ${serviceText(service)}`
  return new StatusError('Forbidden', `its agent does not allow it; start the agent with ${flag}`)
}

async function readService(
  local: Cluster,
  { namespace, name }: EdgeService,
  signal: AbortSignal,
): Promise<Known> {
  const labelSelector = `kubernetes.io/service-name=${name}`
  try {
    const [object, slices] = await Promise.all([
      local.resource(resources.services).get({ namespace, name }, signal),
      local.resource(resources.endpointSlices).list({ namespace, labelSelector }, signal),
    ])
    return { object, slices: slices.items }
  } catch (error) {
    if (isStatusError(error, 'NotFound')) {
      throw new StatusError('NotFound', `services "${name}" not found`, { cause: error })
    }
    if (!isStatusError(error, 'Forbidden')) throw error
    const why = 'the agent may not read services and endpoint slices; give it the rights'
    throw new StatusError('ServiceUnavailable', why, { cause: error })
  }
}

interface ServicePort {
  readonly name?: string | undefined
  readonly port: number
  readonly appProtocol?: string | undefined
}

function portOf({ spec }: Service, { name, port }: EdgeService): ServicePort {
  const ports = (spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  const found = ports.find((each) => String(each.port) === port || each.name === port)
  if (found) return found
  // A name elsewhere needs to list no ports.
  const isBare = spec?.type === 'ExternalName' && (spec.ports ?? []).length === 0
  if (isBare && /^\d+$/.test(port)) return { port: Number(port) }
  throw new StatusError('NotFound', `service "${name}" has no TCP port ${port}`)
}

function speaksHttp2({ appProtocol }: ServicePort): boolean {
  return appProtocol === 'kubernetes.io/h2c' || appProtocol === 'grpc'
}

interface Wanted {
  readonly service: EdgeService
  readonly port: ServicePort
  /** By an allowance without a wildcard. */
  readonly isNamed: boolean
}

async function addressesOf(
  { object, slices }: Known,
  { service, port, isNamed }: Wanted,
  signal: AbortSignal,
): Promise<FoundService['addresses']> {
  if (object.spec?.type !== 'ExternalName') return readyAddresses(slices, port)
  if (!isNamed) {
    const why = `it is an ExternalName; only --allow-service ${serviceText(service)} leads there`
    throw new StatusError('Forbidden', `its agent does not allow it: ${why}`)
  }
  const hosts = await resolved(object.spec.externalName ?? '', signal)
  return hosts.map((host) => ({ host, port: port.port }))
}

function readyAddresses(
  slices: readonly EndpointSlice[],
  { name = '' }: ServicePort,
): FoundService['addresses'] {
  return slices.flatMap(({ ports, endpoints }) => {
    const own = (ports ?? []).find(
      (each) => (each.name ?? '') === name && (each.protocol ?? 'TCP') === 'TCP',
    )
    const number = own?.port
    if (number === undefined) return []
    return (endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses: [host] }) => (host === undefined ? [] : [{ host, port: number }]))
  })
}

/** Resolved once, and what came of it is dialled: a name that changes its mind changes nothing. */
async function resolved(name: string, signal: AbortSignal): Promise<string[]> {
  if (isIP(name) !== 0) return [name]
  const message = `no answer for the name ${name} in ${servicesLimits.connectMs} ms`
  try {
    const found = await withTimeout({ ms: servicesLimits.connectMs, message }, signal, (scope) =>
      Promise.race([lookup(name, { all: true }), aborted(scope)]),
    )
    return found.map(({ address }) => address)
  } catch (error) {
    signal.throwIfAborted()
    const text = error instanceof Error ? error.message : String(error)
    throw new StatusError('ServiceUnavailable', text, { cause: error })
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function readNodeAddresses(local: Cluster, signal: AbortSignal): Promise<string[]> {
  const { items } = await local.resource(resources.nodes).list({}, signal)
  return items.flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address))
}

interface Memory<Value> {
  get(key: string, read: () => Promise<Value>): Promise<Value>
}

/** Keeps what was read for a moment, so that a page with many parts asks the API server once. */
function createMemory<Value>(freshMs: number, clock: Clock): Memory<Value> {
  const kept = new Map<string, { value: Value; atMs: number }>()
  return {
    async get(key, read) {
      const known = kept.get(key)
      if (known && clock.monotonicMs() - known.atMs < freshMs) return known.value
      const value = await read()
      kept.delete(key)
      kept.set(key, { value, atMs: clock.monotonicMs() })
      const oldest = kept.keys().next().value
      if (kept.size > servicesLimits.servicesKept && oldest !== undefined) kept.delete(oldest)
      return value
    },
  }
}
