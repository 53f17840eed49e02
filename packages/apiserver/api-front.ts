import type { AddressInfo } from 'node:net'
import { asError, messageOf, type Clock, type Logger } from '@skerry/base'
import { StatusError } from '@skerry/api'
import type { ApiAnswer, ApiRequest, ClientConnection } from './contract/exchange.ts'
import { toStatusError, tooManyRequests } from './contract/status-answer.ts'
import { errorAnswer } from './handlers/error-answer.ts'
import { ConnectionsPerAddress } from './http/connections-per-address.ts'
import { createHttpServer, type TlsFiles } from './http/http-server.ts'
import { UnreadBytes } from './http/unread-bytes.ts'
import { apiServerLimits, type ApiServerLimits } from './limits-table.ts'
import { writeRefusal } from './subresources/backend/upgrade-tunnel.ts'

export interface ApiFrontOptions {
  readonly tls: TlsFiles
  readonly limits?: Partial<ApiServerLimits>
  /** The requests of one address that are not over, watches and sessions included. */
  readonly requestsPerAddressMax: number
  /** Those of all addresses. */
  readonly requestsMax: number
  readonly connectionsPerAddressMax: number
}

export interface ApiFrontHandler {
  /** May throw StatusErrors. */
  onRequest(request: ApiRequest): Promise<ApiAnswer>
  /** May throw StatusErrors before it writes anything. */
  onUpgrade(request: ApiRequest, client: ClientConnection): Promise<void>
}

export interface ApiFront extends AsyncDisposable {
  listen(host: string, port: number): Promise<AddressInfo>
  /** Uses renewed certificates for new connections. */
  setTls(tls: TlsFiles): void
}

/**
 * Serves HTTPS as the API server does, with the same bounds on slow and greedy clients, for a handler that answers
 * for another API server. It knows no user.
 */
export function createApiFront(
  options: ApiFrontOptions,
  handlerOf: (unread: UnreadBytes) => ApiFrontHandler,
  deps: { readonly clock: Clock; readonly log: Logger },
): ApiFront {
  const limits = { ...apiServerLimits, ...options.limits }
  const unread = new UnreadBytes(limits)
  const handler = handlerOf(unread)
  const turns = new OpenRequests(options)
  const { log } = deps
  return createHttpServer({
    tls: options.tls,
    connections: new ConnectionsPerAddress(options.connectionsPerAddressMax),
    limits,
    unread,
    ...deps,
    async onRequest(request) {
      try {
        turns.begin(request)
        return await handler.onRequest(request)
      } catch (error) {
        return errorAnswer(refusalOf(error, request, log), request)
      }
    },
    async onUpgrade(request, client) {
      try {
        turns.begin(request)
        await handler.onUpgrade(request, client)
      } catch (error) {
        writeRefusal(client, refusalOf(error, request, log))
      }
    },
    onUnreadable: () => undefined,
  })
}

function refusalOf(error: unknown, { method, signal }: ApiRequest, log: Logger): StatusError {
  if (!(error instanceof StatusError) && !signal.aborted) {
    log.error('Request failed', { method, reason: messageOf(error), error: asError(error) })
  }
  return toStatusError(error)
}

/** Counts requests until their connections or streams close. */
class OpenRequests {
  readonly #limits: Pick<ApiFrontOptions, 'requestsMax' | 'requestsPerAddressMax'>
  readonly #byAddress = new Map<string, number>()
  #open = 0

  constructor(limits: Pick<ApiFrontOptions, 'requestsMax' | 'requestsPerAddressMax'>) {
    this.#limits = limits
  }

  /** Throws StatusError TooManyRequests. */
  begin({ peer, signal }: ApiRequest): void {
    const address = peer.type === 'socket' ? peer.address : ''
    const count = this.#byAddress.get(address) ?? 0
    if (signal.aborted) return
    const { requestsMax, requestsPerAddressMax } = this.#limits
    if (this.#open >= requestsMax || count >= requestsPerAddressMax) throw tooManyRequests()
    this.#open += 1
    this.#byAddress.set(address, count + 1)
    signal.addEventListener('abort', () => this.#end(address), { once: true })
  }

  #end(address: string): void {
    this.#open -= 1
    const left = (this.#byAddress.get(address) ?? 1) - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
  }
}
