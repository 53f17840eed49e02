import { createBackoff, systemRandom, type BackoffOptions, type Random } from '@skerry/base'
import {
  serveTunnel,
  type AgentSession,
  type SessionDeps,
  type TunnelHandler,
} from './agent-session.ts'
import { webSocketDial } from './dial-web-socket.ts'
import { TunnelDialError } from './tunnel-dial-error.ts'
import { validateTunnelLimits, type TunnelLimits } from './tunnel-limits.ts'
import type { TunnelDial, TunnelEndpoint } from './tunnel-link.ts'

export interface DialTunnelOptions extends TunnelEndpoint {
  limits?: Partial<TunnelLimits>
}

export interface TunnelAgentDeps extends SessionDeps {
  random?: Random
  /** Another way to the hub than WebSocket, e.g. a simulated network. */
  dial?: TunnelDial
}

/** Dials once and serves until the tunnel ends; rejects when no tunnel came about. */
export async function dialTunnel(
  options: DialTunnelOptions,
  handler: TunnelHandler,
  deps: TunnelAgentDeps,
  signal: AbortSignal,
): Promise<AgentSession> {
  const limits = validateTunnelLimits(options.limits)
  const dial = deps.dial ?? webSocketDial(limits, deps.clock)
  const link = await dial(options, signal)
  const session = serveTunnel(link, handler, limits, deps)
  const onAbort = (): void => session.close('the agent stops')
  signal.addEventListener('abort', onAbort, { once: true })
  void session.closed.then(() => signal.removeEventListener('abort', onAbort))
  if (signal.aborted) onAbort()
  return session
}

export type TunnelAgentState =
  | { readonly state: 'dialing' }
  | { readonly state: 'connected'; readonly session: AgentSession }
  /** `reason` is why the last connection ended or did not come about. */
  | { readonly state: 'waiting'; readonly retryMs: number; readonly reason: string }

export interface TunnelAgentOptions {
  /** Asked before each dial: certificates and tokens are renewed meanwhile. */
  endpoint: () => DialTunnelOptions | Promise<DialTunnelOptions>
  backoff?: Partial<BackoffOptions>
  onState?: (state: TunnelAgentState) => void
}

/** A dial costs a few packets, and an operator waits: so the pause stays short. */
const networkBackoff: Readonly<BackoffOptions> = Object.freeze({
  initialMs: 250,
  maxMs: 3_000,
  factor: 1.7,
  jitter: 0.5,
})
/** A link that broke is mostly back soon, and is noticed within this. */
const eagerMs = 60_000
const eagerRetryMsMax = 1_000
const pauseMsMin = 50
/** The hub answered and said no: asking every few seconds helps nobody. */
const refusedMs = 15_000
const retryAfterMsMax = 300_000
/** A tunnel that lived this long shows that the way is good. */
const provenMs = 10_000

/** Keeps a tunnel up until the signal aborts; then rejects with its reason. Never gives up. */
export async function runTunnelAgent(
  options: TunnelAgentOptions,
  handler: TunnelHandler,
  deps: TunnelAgentDeps,
  signal: AbortSignal,
): Promise<never> {
  const { clock, log, random = systemRandom } = deps
  const backoff = createBackoff({ ...networkBackoff, ...options.backoff }, random)
  const report = options.onState ?? (() => undefined)
  let brokeMs = clock.monotonicMs()
  for (;;) {
    signal.throwIfAborted()
    report({ state: 'dialing' })
    const end = await liveOnce(options, handler, deps, { report, signal })
    signal.throwIfAborted()
    if (end.livedMs >= provenMs) {
      backoff.reset()
      brokeMs = clock.monotonicMs()
    }
    if (end.isDraining) continue
    const isEager = clock.monotonicMs() - brokeMs < eagerMs
    const pauseMsMax = Math.min(backoff.nextMs(), isEager ? eagerRetryMsMax : Infinity)
    // Over the whole pause: all agents of a hub that was restarted began theirs in the same moment.
    const pauseMs = Math.max(pauseMsMin, pauseMsMax * random.next())
    const retryMs = Math.max(pauseMs, refusalPauseMs(end.stayAwayMs, random))
    log.info('Tunnel waits', { reason: end.reason, retryMs: Math.round(retryMs) })
    report({ state: 'waiting', retryMs, reason: end.reason })
    await clock.sleep(retryMs, signal)
  }
}

/** What the hub asks for, and up to a second or a tenth more: others were told the same. */
export function refusalPauseMs(stayAwayMs: number, random: Random): number {
  if (stayAwayMs === 0) return 0
  return stayAwayMs + Math.max(1_000, stayAwayMs / 10) * random.next()
}

interface LifeEnd {
  readonly reason: string
  readonly livedMs: number
  /** The session still finishes its streams while the next one is dialled. */
  readonly isDraining: boolean
  readonly stayAwayMs: number
}

async function liveOnce(
  options: TunnelAgentOptions,
  handler: TunnelHandler,
  deps: TunnelAgentDeps,
  life: { report: (state: TunnelAgentState) => void; signal: AbortSignal },
): Promise<LifeEnd> {
  const startMs = deps.clock.monotonicMs()
  try {
    const session = await dialTunnel(await options.endpoint(), handler, deps, life.signal)
    life.report({ state: 'connected', session })
    deps.log.info('Tunnel connected')
    const reason = await Promise.race([session.closed, session.draining.then(() => undefined)])
    const livedMs = deps.clock.monotonicMs() - startMs
    if (reason === undefined) return drained(session, livedMs)
    return { reason, livedMs, isDraining: false, stayAwayMs: 0 }
  } catch (error) {
    return { reason: chain(error), livedMs: 0, isDraining: false, stayAwayMs: stayAway(error) }
  }
}

/** A tunnel that was told to drain at once after the dial must not make a tight loop. */
async function drained(session: AgentSession, livedMs: number): Promise<LifeEnd> {
  const isDraining = livedMs >= provenMs
  const reason = isDraining ? 'the hub drains' : await session.closed
  return { reason, livedMs, isDraining, stayAwayMs: 0 }
}

function stayAway(error: unknown): number {
  if (!(error instanceof TunnelDialError) || error.status === undefined) return 0
  return Math.min(error.retryAfterMs ?? refusedMs, retryAfterMsMax)
}

function chain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause, message } = error
  if (!(cause instanceof Error) || message.includes(cause.message)) return message
  return `${message}: ${chain(cause)}`
}
