import type { OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  destinationOf,
  endWith,
  requestOver,
  secureConnection,
  systemClock,
  withTimeout,
  type Connect,
} from '@skerry/base'
import {
  readBody,
  statusErrorOf,
  type ClientCredentials,
  type HttpsTransportConfig,
} from '@skerry/client'
import type { EdgeService } from '@skerry/fleet-kinds'
import { framedStream, serviceProtocol } from '@skerry/gateway'
import { clientBounds } from '../limits-table.ts'

/** The address of the hub and the credentials for it. */
export interface HubConnection extends HttpsTransportConfig {
  readonly connect: Connect
}

const { openMs, refusalBytesMax } = clientBounds.serviceConnection

/**
 * A plain connection to a service of an edge, through its hub: each end may end its half first. Throws the
 * StatusError that the hub or the agent refuses with.
 */
export async function openServiceConnection(
  hub: HubConnection,
  asked: { readonly cluster: string; readonly service: EdgeService },
  signal: AbortSignal,
): Promise<Duplex> {
  const message = `no connection in ${openMs} ms`
  return withTimeout({ ms: openMs, message, clock: systemClock }, signal, async (scope) => {
    const credentials = (await hub.credentials?.(scope)) ?? {}
    const way = await connectToHub(hub, credentials, scope)
    const { namespace, name, port } = asked.service
    const path = `/clusters/${asked.cluster}/services/${namespace}/${name}:${port}`
    return upgraded({ way, path, headers: headersOf(hub, credentials) }, scope)
  })
}

async function connectToHub(
  hub: HubConnection,
  { certificate, key }: ClientCredentials,
  signal: AbortSignal,
): Promise<Duplex> {
  const { certificateAuthority: ca, serverName, isTlsVerifySkipped } = hub
  const to = destinationOf(new URL(hub.server))
  const raw = await hub.connect(to, signal)
  const checks = {
    host: serverName ?? to.host,
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key }),
    ...(isTlsVerifySkipped === undefined ? {} : { isUnchecked: isTlsVerifySkipped }),
  }
  const secured = await secureConnection(raw, checks, signal)
  // Keystrokes are small and must not wait for each other.
  return secured.setNoDelay(true)
}

function headersOf(
  { server, headers = {} }: HttpsTransportConfig,
  { bearerToken }: ClientCredentials,
): OutgoingHttpHeaders {
  const own = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : [...value],
  ])
  return {
    ...Object.fromEntries(own),
    host: new URL(server).host,
    connection: 'Upgrade',
    upgrade: serviceProtocol,
    ...(bearerToken ? { authorization: `Bearer ${bearerToken}` } : {}),
  }
}

interface Asking {
  readonly way: Duplex
  readonly path: string
  readonly headers: OutgoingHttpHeaders
}

async function upgraded({ way, path, headers }: Asking, signal: AbortSignal): Promise<Duplex> {
  const { type, response } = await requestOver(way, { method: 'POST', path, headers }, signal)
  if (type === 'upgrade') return framedStream(way)
  endWith(way, signal)
  const body = await readBody(response, refusalBytesMax).finally(() => void way.destroy())
  const { statusCode: status = 500 } = response
  throw statusErrorOf({ status, headers: {} }, body.toString('utf8'))
}
