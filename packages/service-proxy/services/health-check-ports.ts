import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { asError, createWakeFlag, type Logger } from '@skerry/base'
import type { EndpointSlice, Service } from '@skerry/api'
import { serviceProxyBounds } from '../limits-table.ts'
import { groupByService, isOn, isReady, keyOf } from './service-ports.ts'

export interface HealthCheckPorts {
  /** Sets the services whose ports are wanted, and their endpoints; the newest call wins. */
  update(services: readonly Service[], slices: readonly EndpointSlice[]): void
  /** Serves the ports until the signal aborts. */
  run(signal: AbortSignal): Promise<never>
}

export interface HealthCheckDeps {
  readonly log: Logger
  /** Whether the node's rules are as they should be. */
  readonly isHealthy: () => boolean
}

/** A service of type LoadBalancer that keeps outside traffic on the node. */
interface CheckedService {
  readonly namespace: string
  readonly name: string
  readonly port: number
  readonly localEndpoints: number
}

interface OpenPort {
  service: CheckedService
  readonly server: Server
}

const bounds = serviceProxyBounds.healthCheckPorts

/**
 * Serves each service's `healthCheckNodePort`, where an outside balancer asks whether this node has a ready endpoint. The
 * answer is as kube-proxy's: 200 or 503, with the number of endpoints.
 */
export function createHealthCheckPorts(
  { nodeName }: { readonly nodeName: string },
  deps: HealthCheckDeps,
): HealthCheckPorts {
  let wanted: readonly CheckedService[] = []
  const dirty = createWakeFlag()
  return {
    update(services, slices) {
      const next = checkedServices(services, slices, nodeName)
      if (next.length === 0 && wanted.length === 0) return
      wanted = next
      dirty.raise()
    },
    async run(signal) {
      const open = new Map<number, OpenPort>()
      const refused = new Set<number>()
      await using stack = new AsyncDisposableStack()
      stack.defer(async () => {
        for (const { server } of open.values()) await closeServer(server)
      })
      for (;;) {
        await dirty.wait(signal)
        await openWanted(wanted, { open, refused, deps })
      }
    },
  }
}

interface Ports {
  readonly open: Map<number, OpenPort>
  /** The ports that could not be opened, which has been logged. They are tried again with each change. */
  readonly refused: Set<number>
  readonly deps: HealthCheckDeps
}

async function openWanted(wanted: readonly CheckedService[], ports: Ports): Promise<void> {
  const { open } = ports
  const byPort = new Map(wanted.map((service) => [service.port, service]))
  for (const [port, { server }] of open) {
    if (byPort.has(port)) continue
    open.delete(port)
    await closeServer(server)
  }
  for (const [port, service] of byPort) {
    const known = open.get(port)
    if (known !== undefined) known.service = service
    else await openPort(service, ports)
  }
}

async function openPort(service: CheckedService, { open, refused, deps }: Ports): Promise<void> {
  const server = createServer({ requestTimeout: bounds.requestMsMax }, (request, response) => {
    request.resume()
    const { status, headers, body } = answerOf(entry.service, deps.isHealthy())
    response.writeHead(status, headers).end(body)
  })
  const entry: OpenPort = { service, server }
  server.maxConnections = bounds.connectionsMax
  try {
    server.listen(service.port)
    await once(server, 'listening')
    // An error after this is one connection's.
    server.on('error', (error) => deps.log.debug('Health check port', { error }))
    open.set(service.port, entry)
    refused.delete(service.port)
  } catch (error) {
    const { namespace, name, port } = service
    if (refused.has(port)) return
    refused.add(port)
    const details = { service: keyOf(namespace, name), port, error: asError(error) }
    deps.log.error('Health check port of a service not opened', details)
  }
}

function answerOf(
  { namespace, name, localEndpoints }: CheckedService,
  isHealthy: boolean,
): { status: number; headers: Record<string, string>; body: string } {
  const report = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: isHealthy }
  return {
    status: localEndpoints > 0 && isHealthy ? 200 : 503,
    headers: {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-load-balancing-endpoint-weight': String(localEndpoints),
    },
    body: JSON.stringify(report, undefined, '\t'),
  }
}

function checkedServices(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  nodeName: string,
): CheckedService[] {
  const wanted = services.filter(
    ({ spec }) => spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local',
  )
  if (wanted.length === 0) return []
  const slicesOf = groupByService(slices)
  return wanted.flatMap(({ metadata: { namespace = '', name = '' }, spec }) => {
    const port = spec?.healthCheckNodePort ?? 0
    if (port === 0) return []
    const endpoints = (slicesOf.get(keyOf(namespace, name)) ?? []).flatMap(
      (slice) => slice.endpoints ?? [],
    )
    const local = endpoints.filter((each) => isReady(each) && isOn(each, { nodeName }))
    const addresses = new Set(local.map(({ addresses: [address] }) => address))
    return [{ namespace, name, port, localEndpoints: addresses.size }]
  })
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}
