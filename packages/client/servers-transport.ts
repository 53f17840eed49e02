import { isUnsent, type HttpsTransport } from './https-transport.ts'
import { readBody } from './response-body.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

/** Knows the servers of a cluster, and which of them is in use. */
export interface ServerChoice {
  readonly current: string
  /** All URLs, the preferred first. */
  ranked(): readonly string[]
  /** A request got no answer. */
  suspect(url: string): void
  /** The client's credentials were not accepted. Returns the servers that may accept them. */
  refused(url: string): readonly string[]
  /** The server has accepted what the one in use refused. */
  prefer(url: string): void
}

/** One caller's connections to the servers. */
export class ServersTransport implements HttpsTransport {
  readonly #servers: ServerChoice
  readonly #open: (server: string) => HttpsTransport
  readonly #opened = new Map<string, HttpsTransport>()
  onClosed: () => void = () => undefined

  constructor(servers: ServerChoice, open: (server: string) => HttpsTransport) {
    this.#servers = servers
    this.#open = open
  }

  /** Asks another server if one gives no answer, and the request may be sent twice or was not sent. */
  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    const { current } = this.#servers
    const urls = [current, ...this.#servers.ranked().filter((url) => url !== current)]
    for (const [at, url] of urls.entries()) {
      try {
        const answer = await this.sendTo(url, request, signal)
        return answer.status === 401 ? await this.#elsewhere(url, answer, request, signal) : answer
      } catch (error) {
        if (signal.aborted) throw error
        this.#servers.suspect(url)
        const { method, isRepeatable = method === 'GET' } = request
        if (at === urls.length - 1 || !(isRepeatable || isUnsent(error))) throw error
      }
    }
    throw new Error('Cannot send: there is no API server')
  }

  /** Asks the servers that may accept the credentials. A request that was refused so had no effect. */
  async #elsewhere(
    refusing: string,
    refusal: TransportResponse,
    request: TransportRequest,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    const others = this.#servers.refused(refusing)
    if (others.length === 0) return refusal
    const text = await readBody(refusal.body)
    for (const url of others) {
      try {
        const answer = await this.sendTo(url, request, signal)
        if (answer.status !== 401) {
          this.#servers.prefer(url)
          return answer
        }
        await readBody(answer.body)
        this.#servers.refused(url)
      } catch (error) {
        signal.throwIfAborted()
        this.#servers.suspect(url)
        const { method, isRepeatable = method === 'GET' } = request
        if (!isRepeatable && !isUnsent(error)) throw error
      }
    }
    return { ...refusal, body: oneChunk(text) }
  }

  sendTo(url: string, request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    let transport = this.#opened.get(url)
    if (!transport) {
      transport = this.#open(url)
      this.#opened.set(url, transport)
    }
    return transport.send(request, signal)
  }

  /** Closes the connections to one server; requests under way there fail. */
  close(url: string): void {
    this.#opened.get(url)?.[Symbol.dispose]()
    this.#opened.delete(url)
  }

  [Symbol.dispose](): void {
    for (const transport of this.#opened.values()) transport[Symbol.dispose]()
    this.#opened.clear()
    this.onClosed()
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}
