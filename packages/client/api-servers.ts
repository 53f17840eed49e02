import {
  asError,
  createWakeFlag,
  withTimeout,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  createHttpsTransport,
  type HttpsTransport,
  type HttpsTransportConfig,
} from './https-transport.ts'
import { clientBounds } from './limits-table.ts'
import { readBody } from './response-body.ts'
import { rankServers, shareOf } from './server-rank.ts'
import { ServersTransport, type ServerChoice } from './servers-transport.ts'

export interface ApiServersOptions {
  /** The client's name, which decides which of several servers it prefers. */
  readonly client: string
  /** URLs that the operator gave; at least one. They stay as the last resort. */
  readonly given: readonly string[]
  /** URLs that the cluster named before. */
  readonly named: readonly string[]
  /** PEM of the servers' authority. */
  readonly certificateAuthority: string
}

export interface ApiServersDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Opens a transport to one server. If omitted, HTTPS. */
  readonly open?: (config: HttpsTransportConfig) => HttpsTransport
}

interface Server {
  readonly url: string
  isNamed: boolean
  isGiven: boolean
  fastestMs: number | undefined
  /** The number of probes in a row that failed. */
  failures: number
  /** The time since which every probe has succeeded. */
  goodSinceMs: number | undefined
  /** When it last did not accept the client's credentials. */
  refusedMs: number | undefined
}

const { probeMs, probeTimeoutMs, againMs, failuresMax, steadyMs, othersMs, refusedMs, serversMax } =
  clientBounds.apiServers

/**
 * The API servers of one cluster, of which one is used at a time. It changes over when that one does not answer a
 * probe, to one that does; connections to a server that was left or removed are closed, so that watches go on
 * elsewhere. It goes back to a preferred server once that has answered for a while.
 */
export class ApiServers implements ServerChoice, Disposable {
  readonly #options: ApiServersOptions
  readonly #deps: ApiServersDeps
  readonly #servers = new Map<string, Server>()
  readonly #transports = new Set<ServersTransport>()
  readonly #probing: ServersTransport
  readonly #wake = createWakeFlag()
  #current: string

  constructor(options: ApiServersOptions, deps: ApiServersDeps) {
    this.#options = options
    this.#deps = deps
    for (const url of options.given) this.#server(url).isGiven = true
    for (const url of options.named.slice(0, serversMax)) this.#server(url).isNamed = true
    const [first] = this.ranked()
    if (first === undefined) throw new RangeError('Cannot use API servers: there is no address')
    this.#current = first
    const { certificateAuthority } = options
    this.#probing = this.#open({ certificateAuthority })
  }

  /** The URL of the server in use. */
  get current(): string {
    return this.#current
  }

  /** The URLs that the cluster named last. */
  named(): readonly string[] {
    return [...this.#servers.values()].filter(({ isNamed }) => isNamed).map(({ url }) => url)
  }

  /** All URLs, the preferred first. */
  ranked(): readonly string[] {
    return rankServers([...this.#servers.values()], this.#options.client)
  }

  /** Opens a transport to whichever server is in use. Its configuration names no server. */
  transport(config: Omit<HttpsTransportConfig, 'server'>): HttpsTransport {
    const transport = this.#open(config)
    this.#transports.add(transport)
    transport.onClosed = () => void this.#transports.delete(transport)
    return transport
  }

  /**
   * Replaces the servers that the cluster names. Connections to a removed one are closed. An empty list is ignored:
   * a cluster that answers has a server. Returns true if the list has changed.
   */
  setNamed(urls: readonly string[]): boolean {
    const named = [...new Set(urls)].slice(0, serversMax)
    const before = this.named()
    if (named.length === 0) return false
    if (named.length === before.length && named.every((url) => before.includes(url))) return false
    for (const url of named) this.#server(url).isNamed = true
    for (const server of this.#servers.values()) {
      if (named.includes(server.url)) continue
      server.isNamed = false
      if (server.isGiven) continue
      this.#servers.delete(server.url)
      this.#probing.close(server.url)
      if (this.#current !== server.url) this.#close(server.url)
    }
    this.#wake.raise()
    return true
  }

  /** Call this when the machine has another address: connections from the former one are dead, and are closed. */
  reconnect(): void {
    for (const { url } of this.#servers.values()) {
      this.#probing.close(url)
      this.#close(url)
    }
    this.#wake.raise()
  }

  /** Call this when a request to the server got no answer: it is probed at once. */
  suspect(url: string): void {
    if (url === this.#current) this.#wake.raise()
  }

  /**
   * Call this when a server did not accept the client's credentials, e.g. because its clock is years off: probes have
   * none and do not show it. Returns the servers that may accept them.
   */
  refused(url: string): readonly string[] {
    const nowMs = this.#deps.clock.monotonicMs()
    const server = this.#servers.get(url)
    if (server) {
      server.refusedMs = nowMs
      server.goodSinceMs = undefined
    }
    return this.ranked().filter((each) => {
      const { refusedMs: lastMs = -Infinity } = this.#servers.get(each) ?? {}
      return nowMs - lastMs >= refusedMs
    })
  }

  /** Call this when a server has accepted what the one in use refused. */
  prefer(url: string): void {
    const from = this.#current
    if (url === from || !this.#servers.has(url)) return
    this.#current = url
    this.#deps.log.info('Another API server is used', { server: url, before: from })
    this.#close(from)
  }

  /** Probes the servers and changes over until the signal aborts. */
  async run(signal: AbortSignal): Promise<never> {
    const { clock, random } = this.#deps
    let othersAtMs = -Infinity
    for (;;) {
      // A single server is used whatever it answers.
      while (this.#isAlone()) await this.#wake.wait(signal)
      const nowMs = clock.monotonicMs()
      const isTimeForAll = nowMs >= othersAtMs
      if (isTimeForAll) othersAtMs = nowMs + othersMs * (1 + random.next())
      await this.#probeAll(isTimeForAll, signal)
      this.#change()
      const isUnsure = (this.#servers.get(this.#current)?.failures ?? 1) > 0
      const waitMs = isUnsure ? againMs : probeMs * (0.8 + 0.4 * random.next())
      using _timer = clock.setTimer(waitMs, () => this.#wake.raise())
      await this.#wake.wait(signal)
      // Many requests that fail at once are one reason to look.
      await clock.sleep(Math.min(againMs, waitMs), signal)
    }
  }

  /** Closes all connections. */
  [Symbol.dispose](): void {
    this.#probing[Symbol.dispose]()
    for (const transport of this.#transports) transport[Symbol.dispose]()
  }

  async #probeAll(isTimeForAll: boolean, signal: AbortSignal): Promise<void> {
    const current = this.#servers.get(this.#current)
    const isAlone = current === undefined || current.failures > 0
    const due = [...this.#servers.values()].filter(
      ({ url, goodSinceMs }) =>
        isTimeForAll ||
        isAlone ||
        url === this.#current ||
        (goodSinceMs !== undefined && this.#isPreferred(url)),
    )
    await Promise.all(due.map((server) => this.#probe(server, signal)))
    signal.throwIfAborted()
  }

  /** A server that has lost its store says so in /readyz, and another one may have it. */
  async #probe(server: Server, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const startedMs = clock.monotonicMs()
    const request = { method: 'GET', path: '/readyz', headers: {} } as const
    const limit = { ms: probeTimeoutMs, message: 'no answer to a probe in time', clock }
    try {
      await withTimeout(limit, signal, async (scope) => {
        const answer = await this.#probing.sendTo(server.url, request, scope)
        await readBody(answer.body)
        // A server that does not let strangers ask is there.
        if (answer.status !== 200 && answer.status !== 401 && answer.status !== 403) {
          throw new Error(`Cannot use server: /readyz has status ${answer.status}`)
        }
      })
      const tookMs = clock.monotonicMs() - startedMs
      server.fastestMs = Math.min(server.fastestMs ?? Infinity, tookMs)
      server.failures = 0
      server.goodSinceMs ??= clock.monotonicMs()
    } catch (error) {
      if (signal.aborted) return
      server.failures += 1
      server.goodSinceMs = undefined
      // The next probe opens a connection, so that a dead one does not answer for its server.
      this.#probing.close(server.url)
      if (server.failures > 1) return
      log.info('API server does not answer a probe', { server: server.url, error: asError(error) })
    }
  }

  #change(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const current = this.#servers.get(this.#current)
    const ranked = this.ranked().flatMap((url) => this.#servers.get(url) ?? [])
    const isLost = current === undefined || current.failures >= failuresMax
    const next = ranked.find(({ url, goodSinceMs }) => {
      if (url === current?.url) return !isLost
      if (goodSinceMs === undefined) return false
      return isLost || (current.failures === 0 && nowMs - goodSinceMs >= this.#steadyMs(url))
    })
    if (next === undefined || next.url === this.#current) return
    const from = this.#current
    this.#current = next.url
    this.#deps.log.info('Another API server is used', { server: next.url, before: from })
    this.#close(from)
  }

  #isAlone(): boolean {
    return this.#servers.size === 1 && this.#servers.has(this.#current)
  }

  #isPreferred(url: string): boolean {
    const ranked = this.ranked()
    return ranked.indexOf(url) < ranked.indexOf(this.#current)
  }

  /** Clients go back at different times, each at its own. */
  #steadyMs(url: string): number {
    const seed = Number.parseInt(shareOf(url, this.#options.client).slice(0, 8), 16)
    return steadyMs * (1 + seed / 2 ** 32)
  }

  #server(url: string): Server {
    let server = this.#servers.get(url)
    if (!server) {
      const unknown = {
        fastestMs: undefined,
        failures: 0,
        goodSinceMs: undefined,
        refusedMs: undefined,
      }
      server = { url, isNamed: false, isGiven: false, ...unknown }
      this.#servers.set(url, server)
    }
    return server
  }

  #open(config: Omit<HttpsTransportConfig, 'server'>): ServersTransport {
    const { clock, open = (each) => createHttpsTransport(each, { clock }) } = this.#deps
    return new ServersTransport(this, (server) => open({ ...config, server }))
  }

  #close(url: string): void {
    for (const transport of this.#transports) transport.close(url)
  }
}
