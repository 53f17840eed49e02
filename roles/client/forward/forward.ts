import { createServer, type Server, type Socket } from 'node:net'
import { checkDnsLabel, isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes, messageOf, silentLogger, systemClock } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type ClusterClient,
  type HttpsTransportConfig,
} from '@skerry/client'
import {
  clusterResource,
  parseServiceText,
  serviceText,
  type EdgeService,
} from '@skerry/fleet-kinds'
import { joinStreams } from '@skerry/tunnel'
import { version } from '../../runtime/version.ts'
import { wayOfKubeconfig } from '../../runtime/way-to-hub.ts'
import { readState } from '../clusters/cluster-states.ts'
import { openServiceConnection, type HubConnection } from './service-connection.ts'
import { askMs, clientBounds } from '../limits-table.ts'

export interface ForwardOptions {
  /** Name of the cluster on the hub. */
  cluster: string
  /** The services, each as `[local port:]namespace/name:port`. */
  services: readonly string[]
  kubeconfig: string
  /** If omitted, the kubeconfig's current context. */
  context: string | undefined
  address: string
  output: string | undefined
  /** The environment of the kubeconfig's credential plugins. */
  environment: Readonly<Record<string, string | undefined>>
}

export interface ForwardOutput {
  readonly print: (line: string) => void
  readonly complain: (line: string) => void
}

const { connectionsMax } = clientBounds.forward

/** Serves until the signal aborts. Throws ExpectedError for what a person can put right. */
export async function runForward(
  options: ForwardOptions,
  output: ForwardOutput,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, address } = options
  if (checkDnsLabel(cluster).length > 0) throw unusable(`"${cluster}" is not a name of a cluster`)
  const wanted = options.services.map(parseForward)
  const hub = await findHub(options)
  await requireRight(hub, cluster, signal)
  await using stack = new AsyncDisposableStack()
  for (const { service, localPort } of wanted) {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      void forward(socket, { hub, cluster, service }, output, signal)
    })
    server.maxConnections = connectionsMax
    server.on('drop', () => {
      const why = `${connectionsMax} connections are open`
      output.complain(
        `Cannot forward a connection to ${serviceText(service)} of ${cluster}: ${why}`,
      )
    })
    const port = await listen(server, { address, port: localPort, service })
    stack.defer(() => void server.close())
    const shown = serviceText(service)
    output.print(
      options.output === 'json'
        ? JSON.stringify({ cluster, service: shown, address, port })
        : `Forwarding ${address.includes(':') ? `[${address}]` : address}:${port} to ${shown} of ${cluster}`,
    )
  }
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

interface Forward {
  readonly service: EdgeService
  /** The local port; 0 means any free one. */
  readonly localPort: number
}

function parseForward(text: string): Forward {
  const [, local, named = ''] = /^(?:(\d{0,5}):)?([^:]+:[^:]+)$/.exec(text) ?? []
  const service = parseServiceText(named)
  const usual = service && /^\d+$/.test(service.port) ? service.port : '0'
  const localPort = Number(local === undefined ? usual : local || '0')
  if (service && localPort <= 65_535) return { service, localPort }
  throw unusable(`"${text}" is not [local port:]namespace/name:port, e.g. 8080:shop/web:80`)
}

function unusable(why: string): ExpectedError {
  return new ExpectedError(`Cannot forward: ${why}`, exitCodes.usage)
}

/** A context of a cluster behind the hub leads to the hub, too. */
async function findHub(options: ForwardOptions): Promise<HubConnection> {
  const { kubeconfig, context, environment } = options
  const deps = { clock: systemClock, environment }
  let found: HttpsTransportConfig
  try {
    found = (await loadKubeconfig(kubeconfig, context === undefined ? {} : { context }, deps))
      .transport
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    throw unusable(
      `there is no kubeconfig ${kubeconfig}; pass --kubeconfig, or make one with "skerry login" or "skerry kubeconfig"`,
    )
  }
  const { origin, pathname } = new URL(found.server)
  if (/^\/(?:clusters\/[^/]+\/?)?$/.test(pathname)) {
    const { connect } = await wayOfKubeconfig(found, deps)
    return { ...found, server: origin, connect }
  }
  throw unusable(`${found.server} is not a hub; pass --context with a context of the hub`)
}

/**
 * Checks the user's right now instead of at the first connection: a missing right, an unreachable hub, or a
 * wrong cluster name.
 */
async function requireRight(hub: HubConnection, name: string, signal: AbortSignal): Promise<void> {
  using transport = createHttpsTransport(hub, { clock: systemClock })
  const deps = { clock: systemClock, log: silentLogger, userAgent: `skerry/${version}` }
  const { group, resource } = clusterResource
  const resourceAttributes = { group, resource, subresource: 'services', name, verb: 'create' }
  const asking = AbortSignal.any([signal, AbortSignal.timeout(askMs)])
  const api = createCluster(transport, deps)
  const { status } = await api
    .resource(resources.selfSubjectAccessReviews)
    .create(
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes },
      },
      asking,
    )
    .catch((error: unknown) => {
      const why = messageOf(error)
      throw new ExpectedError(`Cannot ask hub ${hub.server}: ${why}`, exitCodes.unreachable, {
        cause: error,
      })
    })
  if (status?.allowed === true) return await requireCluster(api, name, asking)
  throw new ExpectedError(
    `Cannot forward: the hub ${hub.server} does not let you to the services of cluster "${name}"; ask for the verb create on clusters/services`,
    exitCodes.failure,
  )
}

async function requireCluster(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await readState(hub, name, signal)
  } catch (error) {
    // A right to services alone does not show how the cluster is.
    if (!isStatusError(error, 'Forbidden')) throw error
  }
}

async function listen(
  server: Server,
  { address, port, service }: { address: string; port: number; service: EdgeService },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' || error.code === 'EACCES'
          ? `${error.code === 'EACCES' ? 'you may not use it' : 'it is in use'}; name another, e.g. 0:${serviceText(service)}`
          : error.message
      const code = error.code === 'EADDRINUSE' ? exitCodes.portTaken : exitCodes.usage
      const text = `Cannot listen on ${address} port ${port}: ${why}`
      reject(new ExpectedError(text, code, { cause: error }))
    })
    server.listen(port, address, () => resolve())
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('Cannot listen: no TCP address')
  return bound.port
}

interface Leading {
  readonly hub: HubConnection
  readonly cluster: string
  readonly service: EdgeService
}

/** Forwards one connection on its own transport: after a broken tunnel the next one finds the new tunnel. */
async function forward(
  local: Socket,
  { hub, cluster, service }: Leading,
  { complain }: ForwardOutput,
  signal: AbortSignal,
): Promise<void> {
  using scope = scopeOf(local, signal)
  try {
    const remote = await openServiceConnection(hub, { cluster, service }, scope.signal)
    scope.signal.addEventListener('abort', () => void remote.destroy(), { once: true })
    await joinStreams(local, remote)
  } catch (error) {
    local.resetAndDestroy()
    if (scope.signal.aborted) return
    const why = messageOf(error)
    complain(`Cannot forward a connection to ${serviceText(service)} of ${cluster}: ${why}`)
  }
}

/**
 * Returns a signal that ends with the program or the local connection, even while the way is still being
 * opened.
 */
function scopeOf(
  local: Socket,
  signal: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const gone = new AbortController()
  local.on('error', (error) => gone.abort(error))
  const onStop = (): void => {
    gone.abort(signal.reason)
    local.destroy()
  }
  signal.addEventListener('abort', onStop, { once: true })
  local.setNoDelay(true)
  return {
    signal: gone.signal,
    [Symbol.dispose]: () => signal.removeEventListener('abort', onStop),
  }
}
