import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import { passUpgrade, type ApiAnswer, type ApiRequest, type UpgradeSocket } from '@skerry/apiserver'
import {
  PeerAnswerError,
  checkPeerHead,
  connectByTcp,
  connectionFields,
  fieldsOfRecord,
  type Clock,
} from '@skerry/base'
import {
  BadAnswerError,
  HttpPool,
  openByWay,
  type AnswerHeaders,
  type HttpAnswer,
} from '@skerry/client'
import { nodeApiBounds } from '../limits-table.ts'

const { connectMs, answerMs, socketsMax, idleSocketsMax, idleSocketMs } = nodeApiBounds.passOn
const peer = 'the control plane'

export interface PassOnOptions {
  /** The URL of the API server in use, read for each request. */
  readonly server: () => string
  /** PEM of the authority of API servers. */
  readonly authorityPem: string
}

/** Reports that no answer came, or none that can be passed on. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
}

/**
 * Passes requests to the API server with the caller's own headers, its token among them, and nothing of this node.
 * Bodies and answers go on as they come, watches and sessions included.
 */
export class PassOn implements Disposable {
  readonly #options: PassOnOptions
  readonly #clock: Clock
  readonly #stop = new AbortController()
  #pool: { readonly server: string; readonly connections: HttpPool } | undefined

  constructor(options: PassOnOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  /** Throws NoAnswerError, or the signal's reason. */
  async ask(request: ApiRequest, isLasting: boolean): Promise<ApiAnswer> {
    const server = this.#options.server()
    const { method, target, body, signal } = request
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const asked = {
      method,
      path: target,
      headers: passedHeaders(request.headers, new URL(server).host),
      isBounded: !isLasting,
      ...(hasBody ? { body } : {}),
    }
    try {
      return answerOf(await this.#poolFor(server).ask(asked, signal), method)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RangeError) throw badRequest(error)
      const isOdd = error instanceof PeerAnswerError || error instanceof BadAnswerError
      if (isOdd) throw new StatusError('Unknown', error.message, { code: 502, cause: error })
      throw new NoAnswerError(`Cannot reach ${peer} at ${server}`, { cause: error })
    }
  }

  /** Passes a session on. Calls back if the control plane cannot be reached. Never throws. */
  async upgrade(
    request: ApiRequest,
    client: UpgradeSocket,
    onUnreachable: () => void,
  ): Promise<void> {
    const server = this.#options.server()
    const { host } = new URL(server)
    const { method, target: path, headers, signal } = request
    const { connection = 'Upgrade', upgrade = '' } = headers
    const session = {
      method,
      path,
      host,
      headers: { ...flat(passedHeaders(headers, host)), connection, upgrade },
      dial: (scope: AbortSignal) =>
        this.#open(server, scope).catch((error: unknown) => {
          onUnreachable()
          throw error
        }),
      clock: this.#clock,
    }
    await passUpgrade(session, client, signal)
  }

  /** Closes connections, which are dead where this machine has another address. */
  reconnect(): void {
    this.#pool?.connections[Symbol.dispose]()
    this.#pool = undefined
  }

  [Symbol.dispose](): void {
    this.#stop.abort(new Error('The API on this node is closed'))
    this.#pool?.connections[Symbol.dispose]()
  }

  #poolFor(server: string): HttpPool {
    if (this.#pool?.server === server) return this.#pool.connections
    // Requests in progress end where they began.
    this.#pool?.connections.retire()
    const limits = { answerMs, socketsMax, idleSocketsMax, idleSocketMs }
    const connections = new HttpPool({
      ...limits,
      clock: this.#clock,
      open: (signal) => this.#open(server, signal),
      late: () => new Error(`${peer} has not answered in ${answerMs} ms`),
    })
    this.#pool = { server, connections }
    return connections
  }

  #open(server: string, signal: AbortSignal): Promise<Duplex> {
    const clock = this.#clock
    const connect = connectByTcp({ timeoutMs: connectMs, clock })
    const tls = { ca: this.#options.authorityPem }
    const way = { connect, base: new URL(server), tls, clock }
    return openByWay(way, AbortSignal.any([signal, this.#stop.signal]))
  }
}

/** The caller's headers, without those of its connection to this node. */
function passedHeaders(headers: Readonly<Record<string, string>>, host: string): AnswerHeaders {
  const out: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':') || name === 'host' || connectionFields.has(name)) continue
    // Only a front proxy may send them, and a node is none.
    if (/^x[-_]remote[-_]/.test(name)) continue
    out[name] = value
  }
  out['host'] = host
  return out
}

function flat(headers: AnswerHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  )
}

function answerOf({ status, headers, body }: HttpAnswer, method: string): ApiAnswer {
  try {
    const fields = fieldsOfRecord(headers)
    const head = checkPeerHead({ status, fields }, { peer, method })
    return { status: head.status, headers: head.headers, body }
  } catch (error) {
    if (!(body instanceof Uint8Array)) body.destroy()
    throw error
  }
}

function badRequest(cause: RangeError): StatusError {
  return new StatusError('BadRequest', `Cannot pass request on: ${cause.message}`, { cause })
}
