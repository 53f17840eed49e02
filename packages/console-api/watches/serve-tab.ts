import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import type {
  ApiAnswer,
  ApiRequest,
  AuthorizedRequest,
  LoadedServer,
  UpgradeSocket,
} from '@skerry/apiserver'
import {
  acceptHandshake,
  asError,
  HandshakeError,
  linkedSignal,
  whenAborted,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { WebSocketServer, type WebSocket } from 'ws'
import { innerRequest } from '../inner/inner-request.ts'
import { consoleBounds } from '../limits-table.ts'
import { readTabFrame, type TabFrame } from './tab-frame.ts'
import { TabOutput, type WatchOut } from './watch-out.ts'
import { watchList } from './watched-list.ts'

const subprotocol = 'skerry.watches.v1'

export interface TabDeps {
  readonly server: Pick<LoadedServer, 'answer'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const { frameBytesMax, beatMs } = consoleBounds.watchesRoute
const { watchesMax, opensPerSecondMax } = consoleBounds.watchesStream

/** The window is small and kept for no message, because a tab that is idle must cost little. */
const compression = Object.freeze({
  threshold: 1_024,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  concurrencyLimit: 4,
  zlibDeflateOptions: Object.freeze({ level: 3, memLevel: 7 }),
})

type Client = { request: NonNullable<ApiRequest['message']>; socket: Duplex; head: Uint8Array }

/** Throws BadRequest before anything is written. */
async function accepted(client: Client): Promise<WebSocket> {
  const offered = String(client.request.headers['sec-websocket-protocol'] ?? '').split(',')
  if (!offered.some((each) => each.trim() === subprotocol)) {
    throw new StatusError('BadRequest', `Cannot watch: offer the subprotocol ${subprotocol}`)
  }
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: compression,
    maxPayload: frameBytesMax,
    handleProtocols: () => subprotocol,
  })
  try {
    return await acceptHandshake(server, client)
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error
    throw new StatusError('BadRequest', error.message, { cause: error })
  }
}

/**
 * Serves one tab. Resolves when it is gone, or may go on no longer. Throws BadRequest for an invalid handshake, before
 * anything is written.
 */
export async function serveTab(
  admitted: AuthorizedRequest,
  client: UpgradeSocket,
  deps: TabDeps,
): Promise<void> {
  const { message } = admitted.request
  if (!message) throw new StatusError('BadRequest', 'Upgrade request required')
  const webSocket = await accepted({ request: message, ...client })
  using scope = linkedSignal(admitted.signal)
  const socket = { send: (text: string, sent: () => void) => webSocket.send(text, () => sent()) }
  const output = new TabOutput(socket, deps.clock)
  const tab = new Tab(output, admitted, deps)
  const closed = new Promise<void>((resolve) => webSocket.once('close', () => resolve()))
  // A broken socket just closes.
  webSocket.on('error', () => undefined)
  whenAborted(scope.signal, () => webSocket.terminate())
  webSocket.on('message', (data, isBinary) => {
    // Texts arrive as one buffer, which is the default of `ws`.
    const frame = isBinary ? undefined : readTabFrame((data as Buffer).toString('utf8'))
    if (!frame || !tab.take(frame, scope.signal)) webSocket.close(1008, 'unexpected frame')
  })
  const beating = beat(output, deps.clock, scope.signal).catch((error: unknown) => {
    if (!scope.signal.aborted) deps.log.error('Stream of watches failed', { error: asError(error) })
  })
  await closed
  scope.abort(new Error('the tab is gone'))
  await beating
  await tab.ended()
}

async function beat(output: TabOutput, clock: Clock, signal: AbortSignal): Promise<never> {
  for (;;) {
    output.note({ beat: clock.now() })
    await clock.sleep(beatMs, signal)
  }
}

interface OpenWatch {
  readonly out: WatchOut & { more(count: number): void }
  readonly abort: (reason: unknown) => void
  readonly running: Promise<void>
}

/** The watches of one tab. */
class Tab {
  readonly #output: TabOutput
  readonly #admitted: AuthorizedRequest
  readonly #deps: TabDeps
  readonly #watches = new Map<number, OpenWatch>()
  readonly #running = new Set<Promise<void>>()
  #opens = { count: 0, sinceMs: 0 }

  constructor(output: TabOutput, admitted: AuthorizedRequest, deps: TabDeps) {
    this.#output = output
    this.#admitted = admitted
    this.#deps = deps
  }

  /** Carries a frame out. Returns false if the tab broke the protocol. */
  take(frame: TabFrame, signal: AbortSignal): boolean {
    const watch = this.#watches.get(frame.id)
    if (frame.type === 'open') return watch === undefined && this.#open(frame, signal)
    // It may have ended while the frame was on its way.
    if (frame.type === 'close') watch?.abort(new Error('the tab has closed the watch'))
    else watch?.out.more(frame.credits)
    return true
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }

  #open(frame: Extract<TabFrame, { type: 'open' }>, signal: AbortSignal): boolean {
    const { id } = frame
    if (this.#running.size >= watchesMax || this.#opensTooFast()) {
      const message = `Cannot open watch: a stream has at most ${watchesMax} watches, and opens ${opensPerSecondMax} a second`
      this.#output.note({ id, error: { code: 429, reason: 'TooManyRequests', message } })
      return true
    }
    const { clock, random, log } = this.#deps
    const scope = linkedSignal(signal)
    const out = this.#output.open()
    const ask = (target: string, accept: string, inner: AbortSignal): Promise<ApiAnswer> =>
      this.#deps.server.answer(innerRequest(this.#admitted, { target, accept }, inner))
    const running = watchList(frame, { ask, out, clock, random, log }, scope.signal)
      .catch((error: unknown) => {
        if (!scope.signal.aborted) log.error('Watch of a tab failed', { error: asError(error) })
      })
      .finally(() => {
        this.#watches.delete(id)
        this.#running.delete(running)
        scope[Symbol.dispose]()
      })
    this.#running.add(running)
    this.#watches.set(id, { out, abort: (reason) => scope.abort(reason), running })
    return true
  }

  #opensTooFast(): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    if (nowMs - this.#opens.sinceMs > 1_000) this.#opens = { count: 0, sinceMs: nowMs }
    this.#opens.count += 1
    return this.#opens.count > opensPerSecondMax
  }
}
