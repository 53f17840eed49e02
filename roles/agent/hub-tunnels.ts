import { abortReason, type Clock } from '@skerry/base'
import { readBody, type Transport, type TransportRequest } from '@skerry/client'
import {
  TunnelBusyError,
  TunnelClosedError,
  type AgentSession,
  type TunnelAgentState,
} from '@skerry/tunnel'
import { agentBounds } from './limits-table.ts'

const { absentMs, firstMs, watchFirstMs, directMs, watchDirectMs } = agentBounds.hubTunnels

type Response = Awaited<ReturnType<Transport['send']>>

/**
 * The agent's open tunnels as ways to the hub. Requests go through one where the hub answers there: each connection of its own
 * would cost the hub as much memory as the tunnel. While no tunnel is open they wait a little for the next one, since all agents
 * of a restarted hub come back at the same time, and then go over HTTPS.
 */
export class HubTunnels {
  readonly #overHttps: Transport
  readonly #clock: Clock
  readonly #open = new Set<AgentSession>()
  /** Those whose certificate the hub no longer takes: the next tunnel is opened with a new one. */
  readonly #outdated = new WeakSet<AgentSession>()
  readonly #waiting = new Set<() => void>()
  readonly #startedMs: number
  /** The first dial has succeeded or failed. */
  #isSettled = false
  /** The hub has answered requests through a tunnel. */
  #takesRequests = false
  /** When the last tunnel ended, if requests went through it, and if it was a sign of life. Monotonic. */
  #lostMs: number | undefined
  #presentMs: number | undefined

  constructor(overHttps: Transport, clock: Clock) {
    this.#overHttps = overHttps
    this.#clock = clock
    this.#startedMs = clock.monotonicMs()
  }

  /** Takes the states of runTunnelAgent(). */
  onState(state: TunnelAgentState): void {
    if (state.state === 'dialing') return
    if (state.state === 'connected') this.#add(state.session)
    this.#isSettled = true
    this.#wake()
  }

  /** Reports whether the hub sees by open tunnels that this agent is alive, or did so a moment ago. */
  isPresent(): boolean {
    if (this.#open.size > 0) return [...this.#open].every(({ isPresence }) => isPresence)
    return this.#presentMs !== undefined && this.#clock.monotonicMs() - this.#presentMs < absentMs
  }

  readonly transport: Transport = {
    send: async (request, signal) => {
      const session = await this.#way(request, signal)
      if (session === undefined) return this.#overHttps.send(request, signal)
      try {
        const answer = await sendThrough(session, request, signal)
        if (answer.status !== 401) return answer
        this.#outdated.add(session)
        await readBody(answer.body)
      } catch (error) {
        if (!isUnsent(error)) throw error
      }
      return this.#overHttps.send(request, signal)
    },
  }

  #add(session: AgentSession): void {
    this.#open.add(session)
    const remove = (): void => {
      if (!this.#open.delete(session)) return
      const nowMs = this.#clock.monotonicMs()
      if (session.isPresence) this.#presentMs = nowMs
      if (this.#takesRequests) this.#lostMs = nowMs
    }
    if (session.takesRequests()) this.#takesRequests = true
    void session.closed.then(remove)
    void session.draining.then(remove)
  }

  /** Resolves undefined if the request should go over HTTPS. */
  async #way(request: TransportRequest, signal: AbortSignal): Promise<AgentSession | undefined> {
    for (;;) {
      signal.throwIfAborted()
      const open = [...this.#open].find((each) => each.takesRequests() && !this.#outdated.has(each))
      if (open) return open
      const waitMs = this.#untilMs(request) - this.#clock.monotonicMs()
      if (waitMs <= 0) return undefined
      await this.#change(waitMs, signal)
    }
  }

  /** Returns until when a request waits for a tunnel. */
  #untilMs({ path }: TransportRequest): number {
    if (this.#open.size > 0) return 0
    const lasts = isWatch.test(path)
    if (this.#lostMs !== undefined) return this.#lostMs + (lasts ? watchDirectMs : directMs)
    if (lasts) return this.#startedMs + watchFirstMs
    return this.#isSettled ? 0 : this.#startedMs + firstMs
  }

  #change(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (finish: () => void): void => {
        timer[Symbol.dispose]()
        this.#waiting.delete(done)
        signal.removeEventListener('abort', onAbort)
        finish()
      }
      const done = (): void => end(resolve)
      const onAbort = (): void => end(() => reject(abortReason(signal)))
      const timer = this.#clock.setTimer(ms, done)
      this.#waiting.add(done)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  #wake(): void {
    for (const done of this.#waiting) done()
  }
}

function isUnsent(error: unknown): boolean {
  if (error instanceof TunnelBusyError) return true
  return error instanceof TunnelClosedError && !error.isSent
}

const isWatch = /[?&]watch=(1|true)(&|$)/

async function sendThrough(
  session: AgentSession,
  { method, path, headers, body }: TransportRequest,
  signal: AbortSignal,
): Promise<Response> {
  const sent =
    body === undefined
      ? { headers }
      : { headers: { ...headers, 'content-length': String(body.byteLength) }, body }
  const answer = await session.send({ method, path, ...sent }, signal)
  const flat = Object.entries(answer.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value.join(', '),
  ])
  return { status: answer.status, headers: Object.fromEntries(flat), body: answer.body }
}
