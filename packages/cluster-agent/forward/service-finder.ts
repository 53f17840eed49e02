import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { StatusError, isStatusError, type EndpointSlice, type Pod, type Service } from '@skerry/api'
import {
  addressKind,
  messageOf,
  RecentMap,
  sameAddress,
  withTimeout,
  type Clock,
} from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import {
  allowancesOf,
  coversPort,
  type AllowedService,
  serviceText,
  type EdgeService,
} from '@skerry/fleet-kinds'
import { servicesLimits } from '@skerry/gateway'
import { hasSelector, podEndpoints, type PodEndpoint } from './pod-endpoints.ts'
import { podRangesOf, type PodRanges } from './pod-ranges.ts'

/** The present endpoints of a service. */
export interface FoundService {
  /**
   * At least one address. None is a node's or local to the machine; those of pods are in a range of their
   * node.
   */
  readonly addresses: readonly { readonly host: string; readonly port: number }[]
  /** The Service declares that this port speaks HTTP/2 without TLS. */
  readonly isHttp2: boolean
}

export interface ServiceFinder {
  /** Throws Forbidden, NotFound or ServiceUnavailable, with a message for the client. */
  find(service: EdgeService, signal: AbortSignal): Promise<FoundService>
}

export interface ServiceFinderDeps {
  /** The cluster, with the agent's own rights. */
  readonly local: ClusterClient
  readonly clock: Clock
  /** Returns the present addresses of this machine's interfaces. */
  readonly ownAddresses: () => readonly string[]
}

/** Finds services that the edge's operator allows. Others are not even looked up. */
export function createServiceFinder(
  allowed: readonly AllowedService[],
  { local, clock, ownAddresses }: ServiceFinderDeps,
): ServiceFinder {
  const services = createMemory<Service>(servicesLimits.serviceFreshMs, clock)
  const endpoints = createMemory<Endpoints>(servicesLimits.serviceFreshMs, clock)
  const nodes = createMemory<NodeAddresses>(servicesLimits.nodesFreshMs, clock)
  return {
    async find(service, signal) {
      const allowances = allowancesOf(allowed, service)
      if (allowances.length === 0) throw notAllowed(service)
      const key = `${service.namespace}/${service.name}`
      const object = await services.get(key, () => readService(local, service, signal))
      const port = portOf(object, service)
      const names = [String(port.port), port.name ?? '']
      const covering = allowances.filter((each) => coversPort(each, names))
      if (covering.length === 0) throw notAllowed(service)
      const isAnywhere = covering.some((each) => each.isAnywhere === true)
      const wanted = { service, object, port, isAnywhere, clock }
      const read = (): Promise<Endpoints> => readEndpoints(local, wanted, signal)
      const found = await addressesOf(wanted, () => endpoints.get(memoryKey(wanted), read), signal)
      const places = await knownNodes(nodes, () => readNodes(local, signal), found)
      const refused = [...places.addresses, ...ownAddresses()]
      const isRefused = (host: string): boolean =>
        addressKind(host) !== 'ordinary' || refused.some((each) => sameAddress(each, host))
      const dialled = found.filter(({ host }) => !isRefused(host))
      const addresses = dialled.filter((each) => isOfNode(each, places.podRanges))
      if (addresses.length > 0) return { addresses, isHttp2: speaksHttp2(port) }
      throw unreachable(service, { found: found.length, dialled: dialled.length })
    },
  }
}

/** An address without a pod belongs to a service that an operator has allowed by name. */
type Address = Omit<PodEndpoint, 'node'> & Partial<Pick<PodEndpoint, 'node'>>

function isOfNode({ node, host }: Address, podRanges: PodRanges): boolean {
  return node === undefined || podRanges.covers(node, host)
}

/** A node may be younger than what was read. */
async function knownNodes(
  nodes: Memory<NodeAddresses>,
  read: () => Promise<NodeAddresses>,
  found: readonly Address[],
): Promise<NodeAddresses> {
  const known = await nodes.get('', read)
  const isKnown = ({ node }: Address): boolean => node === undefined || known.podRanges.has(node)
  return found.every(isKnown) ? known : nodes.get('', read, servicesLimits.unknownNodesFreshMs)
}

function unreachable(
  service: EdgeService,
  { found, dialled }: { found: number; dialled: number },
): StatusError {
  if (found === 0) return new StatusError('ServiceUnavailable', 'it has no ready endpoints')
  const ofMachines = "it leads to a node or to an address of the machine's own"
  const why =
    dialled === 0
      ? ofMachines
      : `its pods have addresses outside of spec.podCIDRs of their nodes; where the pod network has ranges of its own, use --allow-service anywhere=${serviceText(service)}`
  return new StatusError('Forbidden', `the agent does not dial it: ${why}`)
}

function notAllowed(service: EdgeService): StatusError {
  const flag = `--allow-service ${serviceText(service)}`
  return new StatusError('Forbidden', `its agent does not allow it; start the agent with ${flag}`)
}

async function readService(
  local: ClusterClient,
  { namespace, name }: EdgeService,
  signal: AbortSignal,
): Promise<Service> {
  try {
    return await local.resource(resources.services).get({ namespace, name }, signal)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) {
      throw new StatusError('NotFound', `services "${name}" not found`, { cause: error })
    }
    throw withoutRights(error)
  }
}

/** A service's endpoints: pods by its selector, or the slices that somebody has written for it. */
type Endpoints = { readonly pods: readonly Pod[] } | { readonly slices: readonly EndpointSlice[] }

async function readEndpoints(
  local: ClusterClient,
  { service: { namespace, name }, object, isAnywhere }: Wanted,
  signal: AbortSignal,
): Promise<Endpoints> {
  try {
    if (isAnywhere) {
      const labelSelector = `kubernetes.io/service-name=${name}`
      const slices = local.resource(resources.endpointSlices)
      return { slices: (await slices.list({ namespace, labelSelector }, signal)).items }
    }
    const labelSelector = selectorText(object)
    const pods = await local.resource(resources.pods).list({ namespace, labelSelector }, signal)
    return { pods: pods.items }
  } catch (error) {
    throw withoutRights(error)
  }
}

function withoutRights(error: unknown): unknown {
  if (!isStatusError(error, 'Forbidden')) return error
  const why = 'the agent may not read services, pods and endpoint slices; give it the rights'
  return new StatusError('ServiceUnavailable', why, { cause: error })
}

/** Another selector is another question: what was read for the one before does not answer it. */
function memoryKey({ service: { namespace, name }, object, isAnywhere }: Wanted): string {
  return `${namespace}/${name} ${isAnywhere ? 'anywhere' : selectorText(object)}`
}

function selectorText({ spec }: Service): string {
  const entries = Object.entries(spec?.selector ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([key, value]) => `${key}=${value}`).join(',')
}

interface ServicePort {
  readonly name?: string | undefined
  readonly port: number
  readonly targetPort?: number | string | undefined
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
  readonly object: Service
  readonly port: ServicePort
  /** True if the allowance has the prefix `anywhere=`. */
  readonly isAnywhere: boolean
  readonly clock: Clock
}

async function addressesOf(
  { service, object, port, isAnywhere, clock }: Wanted,
  endpoints: () => Promise<Endpoints>,
  signal: AbortSignal,
): Promise<readonly Address[]> {
  const isName = object.spec?.type === 'ExternalName'
  if (!isAnywhere && (isName || !hasSelector(object))) {
    const what = isName ? 'is an ExternalName' : 'has no selector'
    const why = `it ${what}; only --allow-service anywhere=${serviceText(service)} leads there`
    throw new StatusError('Forbidden', `its agent does not allow it: ${why}`)
  }
  if (!isName) {
    const found = await endpoints()
    return 'pods' in found
      ? podEndpoints(object, port, found.pods)
      : readyAddresses(found.slices, port)
  }
  const hosts = await resolved(object.spec?.externalName ?? '', clock, signal)
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

/** Resolves a name once, and dials the result, so that a name that changes in between changes nothing. */
async function resolved(name: string, clock: Clock, signal: AbortSignal): Promise<string[]> {
  if (isIP(name) !== 0) return [name]
  const message = `no answer for the name ${name} in ${servicesLimits.connectMs} ms`
  try {
    const { connectMs: ms } = servicesLimits
    const found = await withTimeout({ ms, message, clock }, signal, (scope) =>
      Promise.race([lookup(name, { all: true }), aborted(scope)]),
    )
    return found.map(({ address }) => address)
  } catch (error) {
    signal.throwIfAborted()
    const text = messageOf(error)
    throw new StatusError('ServiceUnavailable', text, { cause: error })
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

interface NodeAddresses {
  readonly addresses: readonly string[]
  readonly podRanges: PodRanges
}

async function readNodes(local: ClusterClient, signal: AbortSignal): Promise<NodeAddresses> {
  const { items } = await local.resource(resources.nodes).list({}, signal)
  const addresses = items.flatMap(({ status }) => status?.addresses ?? [])
  return { addresses: addresses.map(({ address }) => address), podRanges: podRangesOf(items) }
}

interface Memory<Value> {
  /** Reads again if the value is older than `ageMs`. Default: the memory's own age. */
  get(key: string, read: () => Promise<Value>, ageMs?: number): Promise<Value>
}

/** Keeps what was read for a moment, so that a page with many parts asks the API server once. */
function createMemory<Value>(freshMs: number, clock: Clock): Memory<Value> {
  const kept = new RecentMap<string, { value: Value; atMs: number }>(servicesLimits.servicesKept)
  return {
    async get(key, read, ageMs = freshMs) {
      const known = kept.get(key)
      if (known && clock.monotonicMs() - known.atMs < ageMs) return known.value
      const value = await read()
      kept.set(key, { value, atMs: clock.monotonicMs() })
      return value
    },
  }
}
