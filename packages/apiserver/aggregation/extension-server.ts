import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { StatusError, type APIService } from '@skerry/api'
import { withTimeout, type Clock, type Random } from '@skerry/base'
import type { UserInfo } from '../contract/access.ts'
import type { Objects } from '../contract/objects.ts'
import type { BackendDial } from '../subresources/backend/backend-dial.ts'
import {
  sendToBackend,
  type BackendAnswer,
  type BackendRequest,
} from '../subresources/backend/backend-request.ts'
import { forwardedToApi } from '../subresources/backend/forwarded-headers.ts'
import { hostPort, connectionErrorText } from '../http/connection-error-text.ts'
import { identityHeaders, isIdentityHeader } from './proxy-headers.ts'
import {
  resolveService,
  type ServiceEndpoint,
  type ServicePortReference,
} from './resolve-service.ts'
import { aggregationLimits } from '../limits-table.ts'

/** The address of an extension server and how to verify it. */
export interface ExtensionServer {
  readonly service: ServicePortReference
  /** PEM. If undefined, the machine's own authorities are trusted. */
  readonly authorityPem: string | undefined
  readonly isUnchecked: boolean
}

export interface ExtensionCallDeps {
  readonly objects: Objects
  readonly clock: Pick<Clock, 'setTimer'>
  readonly random: Random
  readonly dial: Pick<BackendDial, 'dialAddress'>
  /** Shown to extension servers. It is read for each connection, because certificates are renewed. */
  readonly identity: () => { readonly certificatePem: string; readonly privateKeyPem: string }
}

export interface ExtensionRequest {
  readonly method: string
  /** The path, including the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly user: UserInfo
  /** The address of the client that asked. If omitted, this server asks on its own behalf. */
  readonly clientAddress?: string
  readonly body?: AsyncIterable<Uint8Array>
}

export function extensionServerOf({ spec }: APIService): ExtensionServer | undefined {
  const service = spec?.service
  if (!service) return undefined
  const { namespace = '', name = '', port = 443 } = service
  const bundle = spec.caBundle ?? ''
  return {
    service: { namespace, name, port },
    authorityPem: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString('utf8'),
    isUnchecked: spec.insecureSkipTLSVerify === true,
  }
}

/** Reports that no answer came. The message is upstream's for the same failure. */
export class ExtensionServerError extends Error {
  override name = 'ExtensionServerError'
  /** The endpoint that should have answered, or undefined if the service has none. */
  readonly endpoint: ServiceEndpoint | undefined

  constructor(message: string, options: { cause: unknown; endpoint?: ServiceEndpoint }) {
    super(message, { cause: options.cause })
    this.endpoint = options.endpoint
  }
}

/** Builds the request to the extension server. Throws ExtensionServerError if there is no endpoint. */
export function toExtension(
  server: ExtensionServer,
  request: ExtensionRequest,
  deps: ExtensionCallDeps,
): BackendRequest & { readonly endpoint: ServiceEndpoint } {
  const endpoint = endpointOf(server, deps)
  const { method, path, user, body } = request
  const kept = Object.entries(forwardedToApi(request.headers)).filter(
    ([name]) => !isIdentityHeader(name) && !name.startsWith('x-forwarded-'),
  )
  return {
    endpoint,
    method,
    path,
    host: hostPort(endpoint),
    headers: {
      ...Object.fromEntries(kept),
      ...identityHeaders(user),
      ...forwardingHeaders(request, hostPort(endpoint)),
    },
    ...(body ? { body } : {}),
    dial: (signal) => dialExtension(server, endpoint, deps, signal),
    clock: deps.clock,
  }
}

/** Returns headers with the origin of the request, and its length if known. */
function forwardingHeaders(
  { headers, path, clientAddress }: ExtensionRequest,
  host: string,
): Record<string, string> {
  if (clientAddress === undefined) return {}
  const before = headers['x-forwarded-for']
  const length = headers['content-length']
  return {
    'X-Forwarded-For': before === undefined ? clientAddress : `${before}, ${clientAddress}`,
    'X-Forwarded-Host': host,
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Uri': path.split('?')[0] ?? '/',
    ...(length === undefined ? {} : { 'content-length': length }),
  }
}

/** Sends the request and resolves with the answer's head. Throws ExtensionServerError. */
export async function callExtension(
  server: ExtensionServer,
  request: ExtensionRequest,
  deps: ExtensionCallDeps,
  signal: AbortSignal,
): Promise<BackendAnswer> {
  const { endpoint, ...backend } = toExtension(server, request, deps)
  try {
    return await sendToBackend(backend, signal)
  } catch (error) {
    if (signal.aborted) throw error
    const cause = error instanceof StatusError && error.cause ? error.cause : error
    throw new ExtensionServerError(connectionErrorText(cause, endpoint), { cause, endpoint })
  }
}

function endpointOf({ service }: ExtensionServer, deps: ExtensionCallDeps): ServiceEndpoint {
  try {
    return resolveService(deps.objects, service, deps.random)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new ExtensionServerError(error.message, { cause: error })
  }
}

async function dialExtension(
  server: ExtensionServer,
  endpoint: ServiceEndpoint,
  deps: ExtensionCallDeps,
  signal: AbortSignal,
): Promise<Duplex> {
  const raw = await deps.dial.dialAddress({ ...endpoint, isTls: false }, signal)
  const { certificatePem: cert, privateKeyPem: key } = deps.identity()
  const { namespace, name } = server.service
  const message = 'net/http: TLS handshake timeout'
  return withTimeout(
    { ms: aggregationLimits.handshakeTimeoutMs, message, clock: deps.clock },
    signal,
    (scope) =>
      new Promise((resolve, reject) => {
        const socket = connectTls({
          socket: raw,
          cert,
          key,
          servername: `${name}.${namespace}.svc`,
          ALPNProtocols: ['http/1.1'],
          rejectUnauthorized: !server.isUnchecked,
          // Every certificate of the bundle is trusted, root or not, as upstream.
          ...(server.authorityPem === undefined
            ? {}
            : { ca: server.authorityPem, allowPartialTrustChain: true }),
        })
        const onAbort = (): void => void socket.destroy(scope.reason)
        scope.addEventListener('abort', onAbort, { once: true })
        socket.once('secureConnect', () => {
          scope.removeEventListener('abort', onAbort)
          socket.off('error', reject)
          resolve(socket)
        })
        socket.once('error', reject)
      }),
  )
}
