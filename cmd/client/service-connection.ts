import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  abortReason,
  asError,
  destinationOf,
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
import { commandBounds } from '../limits-table.ts'

/** The address of the hub and the credentials for it. */
export interface HubConnection extends HttpsTransportConfig {
  readonly connect: Connect
}

const { openMs, refusalBytesMax } = commandBounds.serviceConnection

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

function upgraded({ way, path, headers }: Asking, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => void way.destroy(abortReason(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    const asking = httpRequest({
      method: 'POST',
      path,
      headers,
      setHost: false,
      createConnection: () => way,
    })
    asking.on('error', (error) => reject(signal.aborted ? abortReason(signal) : error))
    asking.once('upgrade', (_answer, stream, head) => {
      signal.removeEventListener('abort', onAbort)
      if (head.length > 0) stream.unshift(head)
      resolve(framedStream(stream))
    })
    asking.once('response', (answer) => {
      readBody(answer, refusalBytesMax)
        .then((body) => {
          const { statusCode: status = 500 } = answer
          throw statusErrorOf({ status, headers: {} }, body.toString('utf8'))
        })
        .catch((error: unknown) => {
          way.destroy()
          reject(asError(error))
        })
    })
    asking.end()
  })
}
