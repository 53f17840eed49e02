import { constants } from 'node:crypto'
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server as PlainServer,
  type ServerResponse,
} from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { TLSSocket, type SecureContextOptions } from 'node:tls'
import { pipeline } from 'node:stream/promises'
import {
  ExpectedError,
  asError,
  exitCodes,
  lastCatch,
  lastCatchOf,
  messageOf,
  type Clock,
  type Logger,
  type Metrics,
} from '@skerry/base'
import { StatusError, type Pod } from '@skerry/api'
import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { readLog } from '../logs/read-log.ts'
import type { PodDirectory } from '../pods/pod-set.ts'
import type { CallerCheck, CallerRequest } from './caller-check.ts'
import { findContainerStatus, logPathOf, parseLogOptions } from './log-request.ts'
import { statsAnswer, type StatsSource } from './serve-stats.ts'
import { joinSession, refuse } from './stream-session.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface KubeletServerOptions {
  address: string
  port: number
  tls: ServerTls
}

export interface ServerTls {
  cert: string
  key: string
  /** The authority of accepted client certificates; PEM. */
  clientCa: string
}

export interface KubeletServerDeps {
  pods: PodDirectory
  runtime: ContainerRuntime
  callers: CallerCheck
  clock: Clock
  log: Logger
  metrics: Metrics
  /** If omitted, statistics of pods and machine are not served. */
  stats?: StatsSource
  /** Answers without the control plane, to callers that it knows itself. If omitted, nobody. */
  neighbours?: NeighbourAnswers | undefined
}

/** A node's word to its neighbours, which must get it while the control plane is away. */
export interface NeighbourAnswers {
  readonly path: string
  /** Returns JSON. Throws StatusError Unauthorized or Forbidden for a caller that is not a neighbour. */
  answerTo(caller: TLSSocket): string
}

export interface KubeletServer extends AsyncDisposable {
  readonly port: number
  /** Sets a renewed certificate; open connections keep theirs. */
  setTls(tls: ServerTls): void
}

const { idleMs } = kubeletBounds.kubeletServer

/** Serves logs, exec, attach, port-forward and statistics of this node's pods, under upstream kubelet's paths. */
export async function startKubeletServer(
  options: KubeletServerOptions,
  deps: KubeletServerDeps,
  signal: AbortSignal,
): Promise<KubeletServer> {
  const server = createServer({
    ...tlsOf(options.tls),
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
  })
  server.keepAliveTimeout = idleMs
  listenFor(server, {
    deps,
    signal,
    async requireAllowed(request, asked) {
      const { socket } = request
      if (!(socket instanceof TLSSocket)) throw new StatusError('Unauthorized', 'Unauthorized')
      await deps.callers.requireAllowed(socket, asked, signal)
    },
  })
  const port = await listen(server, options)
  return {
    port,
    setTls: (tls) => server.setSecureContext(tlsOf(tls)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** The same server for this process alone. */
export interface InnerServer extends AsyncDisposable {
  /** Opens a connection to it. Both sides end together. */
  connect(): Duplex
}

/**
 * Serves logs and sessions to a part of this process that has asked by itself what its own caller may do: whatever comes
 * over such a connection is answered. Nobody else can open one, because it has no address.
 */
export function createInnerServer(
  deps: Omit<KubeletServerDeps, 'callers' | 'neighbours' | 'stats'>,
  signal: AbortSignal,
): InnerServer {
  const server = createPlainServer()
  listenFor(server, { deps, signal, requireAllowed: () => Promise.resolve() })
  const open = new Set<Duplex>()
  return {
    connect() {
      const [near, far] = duplexPair()
      open.add(far)
      // A listener that does nothing keeps the error of a broken session from ending the process.
      near.on('error', () => undefined).once('close', () => far.destroy())
      far
        .on('error', () => undefined)
        .once('close', () => {
          open.delete(far)
          near.destroy()
        })
      server.emit('connection', far)
      return near
    },
    async [Symbol.asyncDispose]() {
      for (const each of open) each.destroy()
    },
  }
}

function listenFor(server: PlainServer, scope: Scope): void {
  const { log } = scope.deps
  server.on(
    'request',
    lastCatch((request, response) => answer(request, response, scope), log),
  )
  server.on(
    'upgrade',
    lastCatchOf(
      (_request: IncomingMessage, socket: Duplex, _head: Buffer) => socket,
      (request, socket, head) => {
        socket.on('error', () => socket.destroy())
        return upgrade({ request, socket, head }, scope)
      },
      log,
    ),
  )
}

/** A resumed session keeps what was once found of the client's certificate, also where that was for a wrong clock. */
function tlsOf({ cert, key, clientCa }: ServerTls): SecureContextOptions {
  return { cert, key, ca: clientCa, secureOptions: constants.SSL_OP_NO_TICKET }
}

function listen(server: Server, { address, port }: KubeletServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new ExpectedError(
              `Cannot listen on ${address}:${port}: the port is taken; stop the other kubelet, or pass --kubelet-port`,
              exitCodes.portTaken,
              { cause: error },
            )
          : error,
      ),
    )
    server.listen(port, address, () => {
      // An address family and port, as the server listens on TCP.
      const bound = server.address() as AddressInfo
      resolve(bound.port)
    })
  })
}

interface Scope {
  deps: Omit<KubeletServerDeps, 'callers'>
  signal: AbortSignal
  /** Throws StatusError Unauthorized or Forbidden for a caller that may not do this. */
  requireAllowed: (request: IncomingMessage, asked: CallerRequest) => Promise<void>
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  scope: Scope,
): Promise<void> {
  try {
    const url = urlOf(request)
    if (answerNeighbour({ request, url, response }, scope)) return
    await scope.requireAllowed(request, { method: request.method ?? 'GET', path: url.pathname })
    const [, first = '', ...rest] = url.pathname.split('/').map(decodeURIComponent)
    const route = routes[first]
    if (route === undefined)
      throw new StatusError('NotFound', `404 page not found: ${url.pathname}`)
    await route({ rest, url, request, response }, scope)
  } catch (error) {
    answerError(error, response, scope.deps.log)
  }
}

/** Returns false if it is another request. */
function answerNeighbour(
  { request, url, response }: Omit<Exchange, 'rest'>,
  { deps }: Scope,
): boolean {
  const { neighbours } = deps
  if (neighbours === undefined || url.pathname !== neighbours.path) return false
  if (!(request.socket instanceof TLSSocket)) throw new StatusError('Unauthorized', 'Unauthorized')
  const body = neighbours.answerTo(request.socket)
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  return true
}

/** Throws BadRequest: unauthenticated clients may send any text here. */
function urlOf({ url = '/' }: IncomingMessage): URL {
  const parsed = URL.parse(url, 'https://node')
  if (parsed) return parsed
  throw new StatusError('BadRequest', 'Cannot serve request: its target is not a path')
}

function answerError(error: unknown, response: ServerResponse, log: Logger): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (error instanceof StatusError) {
    // TLS checked the certificate when the connection began, so another certificate needs a new connection.
    if (error.code === 401) response.shouldKeepAlive = false
    response.writeHead(error.code, { 'content-type': 'text/plain' }).end(error.message)
    return
  }
  log.error('Request failed', { error: asError(error) })
  response.writeHead(500, { 'content-type': 'text/plain' }).end(messageOf(error))
}

interface Exchange {
  rest: string[]
  url: URL
  request: IncomingMessage
  response: ServerResponse
}

const routes: Readonly<Record<string, (exchange: Exchange, scope: Scope) => Promise<void>>> =
  Object.freeze({
    healthz: async ({ response }) => void response.end('ok'),
    pods: async ({ response }, { deps }) => {
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          kind: 'PodList',
          apiVersion: 'v1',
          metadata: {},
          items: deps.pods.list(),
        }),
      )
    },
    metrics: serveStats,
    stats: serveStats,
    containerLogs: serveLogs,
  })

async function serveStats({ url, response }: Exchange, { deps, signal }: Scope): Promise<void> {
  const { contentType, body } = await statsAnswer(url.pathname, deps.stats, deps, signal)
  response.setHeader('content-type', contentType)
  response.end(body)
}

async function serveLogs(
  { rest, url, response }: Exchange,
  { deps, signal }: Scope,
): Promise<void> {
  const pod = findPod(deps.pods, rest)
  const container = rest[2] ?? ''
  const options = parseLogOptions(url.searchParams, deps.clock.now())
  const isPrevious = url.searchParams.get('previous') === 'true'
  const path = logPathOf(deps.pods, { pod, container, isPrevious })
  const uid = pod.metadata.uid
  const isRunning = (): boolean => {
    const current = deps.pods.find(rest[0] ?? '', rest[1] ?? '')
    if (current?.metadata.uid !== uid || isPrevious) return false
    return (
      current !== undefined && findContainerStatus(current, container)?.state?.running !== undefined
    )
  }
  response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' })
  response.flushHeaders()
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('client left')))
  const scope = AbortSignal.any([gone.signal, signal])
  try {
    await pipeline(
      readLog({ path, isRunning }, options, { clock: deps.clock, signal: scope }),
      response,
    )
  } catch (error) {
    if (!scope.aborted) throw error
    response.destroy()
  }
}

function findPod(pods: PodDirectory, [namespace = '', name = '']: readonly string[]): Pod {
  const pod = pods.find(namespace, name)
  if (pod === undefined)
    throw new StatusError('NotFound', `pod ${namespace}/${name} does not exist`)
  return pod
}

interface Upgrade {
  request: IncomingMessage
  socket: Duplex
  head: Buffer
}

async function upgrade(client: Upgrade, { deps, signal, requireAllowed }: Scope): Promise<void> {
  try {
    const url = urlOf(client.request)
    const { method = 'GET' } = client.request
    const asked = { method, path: url.pathname, isSession: true }
    await requireAllowed(client.request, asked)
    const session = { url: await sessionUrl(url, deps, signal), streams: streamsOf(url) }
    await joinSession(client, session, deps)
  } catch (error) {
    if (client.socket.destroyed) return
    const status =
      error instanceof StatusError ? `${error.code} ${error.reason}` : '500 Internal Server Error'
    deps.log.debug('Session refused', {
      path: client.request.url ?? '/',
      error: asError(error),
    })
    refuse(client.socket, messageOf(error), status)
  }
}

/** Reads the streams of a session; the runtime answers with an address of its own streaming server. */
function streamsOf({ searchParams: query }: URL) {
  return {
    stdin: isOn(query, 'input', 'stdin'),
    stdout: isOn(query, 'output', 'stdout'),
    stderr: isOn(query, 'error', 'stderr') && !isOn(query, 'tty'),
    tty: isOn(query, 'tty'),
  }
}

async function sessionUrl(
  url: URL,
  { pods, runtime }: Pick<KubeletServerDeps, 'pods' | 'runtime'>,
  signal: AbortSignal,
): Promise<string> {
  const [, kind = '', ...rest] = url.pathname.split('/').map(decodeURIComponent)
  const pod = findPod(pods, rest)
  const query = url.searchParams
  if (kind === 'portForward') {
    const ports = query
      .getAll('port')
      .flatMap((each) => each.split(','))
      .map(Number)
      .filter((port) => port > 0)
    return runtime.portForward(await sandboxOf(pod, runtime, signal), ports, signal)
  }
  const containerId = containerIdOf(pod, rest[2] ?? '')
  const streams = streamsOf(url)
  if (kind === 'attach') return runtime.attach({ containerId, ...streams }, signal)
  if (kind === 'exec')
    return runtime.exec({ containerId, cmd: query.getAll('command'), ...streams }, signal)
  throw new StatusError('NotFound', `404 page not found: ${url.pathname}`)
}

function isOn(query: URLSearchParams, ...names: string[]): boolean {
  return names.some((name) => ['1', 'true'].includes(query.get(name) ?? ''))
}

async function sandboxOf(
  pod: Pod,
  runtime: ContainerRuntime,
  signal: AbortSignal,
): Promise<string> {
  const sandboxes = (await runtime.listPodSandboxes(signal))
    .filter((each) => each.metadata.uid === pod.metadata.uid && each.state === 'SANDBOX_READY')
    .toSorted((a, b) => b.metadata.attempt - a.metadata.attempt)
  const [newest] = sandboxes
  if (newest === undefined)
    throw new StatusError('NotFound', `pod ${pod.metadata.name} is not running`)
  return newest.id
}

function containerIdOf(pod: Pod, container: string): string {
  const status = findContainerStatus(pod, container)
  if (status === undefined)
    throw new StatusError('NotFound', `container not found ("${container}")`)
  if (status.state?.running === undefined) {
    throw new StatusError(
      'InternalError',
      `container "${container}" in pod "${pod.metadata.name}" is not running`,
    )
  }
  return (status.containerID ?? '').replace(/^[a-z0-9.-]+:\/\//, '')
}
