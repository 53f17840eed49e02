import { fieldInvalid, StatusError, type Service, type StatusCause } from '@skerry/api'
import type { Random } from '@skerry/base'
import { apiServerBounds } from '../limits-table.ts'

export interface PortRange {
  readonly first: number
  readonly last: number
}

export interface PortRequest {
  /** The service. Ports without a number get one, in place. */
  readonly service: Service
  /** The service before an update; undefined if it is created. */
  readonly before: Service | undefined
  readonly range: PortRange
  readonly isTaken: (port: number) => boolean
  readonly random: Random
  readonly isDryRun: boolean
  /** Returns the refusal of the service for this cause. */
  readonly refused: (cause: StatusCause) => StatusError
}

type ServiceSpec = NonNullable<Service['spec']>

/**
 * Assigns node port numbers to a service's ports and its health check. A number belongs to one
 * service, whatever the protocol. Throws StatusError, in upstream's words, if a number is not
 * available.
 */
export function takeNodePorts(request: PortRequest): void {
  const { before, service } = request
  const spec = (service.spec ??= {})
  const operation = new PortOperation(request)
  if (hasNodePorts(spec)) {
    if (before) updatePorts(spec, before.spec ?? {}, operation, request)
    else createPorts(spec, operation, request)
  }
  if (needsHealthCheck(spec) && !needsHealthCheck(before?.spec ?? {})) {
    takeHealthPort(spec, operation)
  }
}

/** Services of these types have node ports. */
export function hasNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
}

function givesPorts(spec: ServiceSpec): boolean {
  return spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false
}

/** Uses one number for all protocols of a port, e.g. DNS over UDP and TCP. */
function createPorts(spec: ServiceSpec, operation: PortOperation, request: PortRequest): void {
  const { ports = [] } = spec
  const given = new Map<number, number>()
  for (const [at, port] of ports.entries()) {
    if (!port.nodePort && !givesPorts(spec)) continue
    const known = given.get(port.port)
    if (known === undefined) {
      const asked = ports.find((other) => other.port === port.port && other.nodePort)?.nodePort
      if (asked) requirePort(asked, at, operation, request)
      port.nodePort = asked || operation.takeAny()
      given.set(port.port, port.nodePort)
    } else if (!port.nodePort) port.nodePort = known
    else if (port.nodePort !== known) requirePort(port.nodePort, at, operation, request)
  }
}

function updatePorts(
  spec: ServiceSpec,
  before: ServiceSpec,
  operation: PortOperation,
  request: PortRequest,
): void {
  const kept = new Set((before.ports ?? []).map(({ nodePort = 0 }) => nodePort))
  const seen = new Set<string>()
  for (const [at, port] of (spec.ports ?? []).entries()) {
    if (!port.nodePort && !givesPorts(spec)) continue
    if (!port.nodePort) port.nodePort = operation.takeAny()
    else if (!kept.has(port.nodePort)) {
      requirePort(port.nodePort, at, operation, request)
      kept.add(port.nodePort)
    }
    const shown = `{${port.protocol} ${port.nodePort}}`
    if (seen.has(shown)) throw new StatusError('Unknown', `duplicate nodePort: ${shown}`)
    seen.add(shown)
  }
}

function requirePort(
  port: number,
  at: number,
  operation: PortOperation,
  { refused }: PortRequest,
): void {
  const problem = operation.take(port)
  if (problem !== undefined) {
    throw refused(fieldInvalid(`spec.ports[${at}].nodePort`, port, problem))
  }
}

/** Upstream reports this failure as its own. */
function takeHealthPort(spec: ServiceSpec, operation: PortOperation): void {
  const { healthCheckNodePort: port } = spec
  if (!port) {
    spec.healthCheckNodePort = operation.takeAny()
    return
  }
  const problem = operation.take(port)
  if (problem === undefined) return
  const message = `failed to allocate requested HealthCheck NodePort ${port}: ${problem}`
  throw new StatusError('InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
  })
}

const { tries } = apiServerBounds.nodePorts
/** A dry run shows numbers above this, and reserves none. */
const dryRunBase = 32_768

/** Collects the numbers that one request takes. */
class PortOperation {
  readonly #request: PortRequest
  readonly #own = new Set<number>()

  constructor(request: PortRequest) {
    this.#request = request
  }

  /** Takes the number and returns undefined, or returns why it is not available. */
  take(port: number): string | undefined {
    const { isDryRun, range } = this.#request
    const { first, last } = range
    if (!isDryRun && (port < first || port > last)) {
      return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    }
    if (!this.#isFree(port)) return 'provided port is already allocated'
    this.#own.add(port)
    return undefined
  }

  /** Throws StatusError if none is left. */
  takeAny(): number {
    const port = this.#request.isDryRun ? this.#nextShown() : this.#pick()
    if (port === undefined) {
      const message = 'failed to allocate a nodePort: range is full'
      throw new StatusError('InternalError', `Internal error occurred: ${message}`)
    }
    this.#own.add(port)
    return port
  }

  #nextShown(): number {
    return this.#own.size === 0 ? dryRunBase + 1 : Math.max(...this.#own) + 1
  }

  #pick(): number | undefined {
    const { random, range } = this.#request
    const { first, last } = range
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const port = first + Math.floor(random.next() * (last - first + 1))
      if (this.#isFree(port)) return port
    }
    for (let port = first; port <= last; port += 1) if (this.#isFree(port)) return port
    return undefined
  }

  #isFree(port: number): boolean {
    return !this.#own.has(port) && !this.#request.isTaken(port)
  }
}
