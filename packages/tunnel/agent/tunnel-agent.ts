import {
  createBackoff,
  linkedSignal,
  systemRandom,
  type Backoff,
  type BackoffOptions,
  type Random,
} from '@skerry/base'
import {
  serveTunnel,
  type AgentSession,
  type SessionDeps,
  type TunnelHandler,
} from '../session/agent-session.ts'
import { webSocketDial } from './dial-web-socket.ts'
import { OpenTunnels, provenMs, type HubReplica, type LifeEnd } from './open-tunnels.ts'
import { TunnelDialError } from '../web-socket/tunnel-dial-error.ts'
import { validateTunnelLimits } from '../frame/validate-tunnel-limits.ts'
import type { TunnelDial, TunnelEndpoint } from '../frame/tunnel-link.ts'
import { tunnelBounds, type TunnelLimits } from '../limits-table.ts'

export interface DialTunnelOptions extends TunnelEndpoint {
  limits?: Partial<TunnelLimits>
}

export interface TunnelAgentDeps extends SessionDeps {
  random?: Random
  /** Another way to the hub than WebSocket, e.g. a simulated network. */
  dial?: TunnelDial
}

/** Dials once and serves until the tunnel ends; rejects if none opens. */
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
  /** The `reason` states why the last connection ended or did not open. */
  | { readonly state: 'waiting'; readonly retryMs: number; readonly reason: string }

export interface TunnelAgentOptions {
  /**
   * Called before each dial, because certificates and tokens are renewed meanwhile. `held` are the replicas
   * of the hub where other tunnels of this agent end.
   */
  endpoint: (held: readonly string[]) => DialTunnelOptions | Promise<DialTunnelOptions>
  backoff?: Partial<BackoffOptions>
  onState?: (state: TunnelAgentState) => void
  /** Called with the number of open tunnels whenever it changes. */
  onOpen?: (count: number) => void
}

/** Creates the handler of one tunnel; the far end reports its replica through `onReplica`. */
export type HandlerOfTunnel = (onReplica: (replica: HubReplica) => void) => TunnelHandler

const {
  eagerMs,
  eagerRetryMsMax,
  networkBackoff,
  pauseMsMin,
  refusedMs,
  repeatBackoff,
  retryAfterMsMax,
} = tunnelBounds.tunnelAgent

/**
 * Keeps a tunnel open until the signal aborts; then rejects with its reason. Never gives up. If the hub
 * reports several replicas, it keeps one tunnel to each, by dialling until another replica answers.
 */
export async function runTunnelAgent(
  options: TunnelAgentOptions,
  handler: TunnelHandler | HandlerOfTunnel,
  deps: TunnelAgentDeps,
  signal: AbortSignal,
): Promise<never> {
  const { clock, random = systemRandom } = deps
  const pauses: Pauses = {
    backoff: createBackoff({ ...networkBackoff, ...options.backoff }, random),
    repeats: createBackoff(repeatBackoff, random),
    brokeMs: clock.monotonicMs(),
  }
  const open = new OpenTunnels(clock, options.onOpen ?? (() => undefined))
  const life: Life = { options, handler, deps, open, signal }
  for (;;) {
    const end = (await open.untilWanted(signal)) ?? (await dialOnce(life))
    signal.throwIfAborted()
    if (end === undefined) pauses.repeats.reset()
    else await pauseAfter(end, pauses, life)
  }
}

interface Life {
  readonly options: TunnelAgentOptions
  readonly handler: TunnelHandler | HandlerOfTunnel
  readonly deps: TunnelAgentDeps
  readonly open: OpenTunnels
  readonly signal: AbortSignal
}

interface Pauses {
  readonly backoff: Backoff
  readonly repeats: Backoff
  /** The time at which the last tunnel broke that had lived long enough to prove the way. */
  brokeMs: number
}

/** Pauses before the next dial; not after a tunnel that drains. */
async function pauseAfter(end: LifeEnd, pauses: Pauses, life: Life): Promise<void> {
  const { options, deps, open, signal } = life
  const { clock, log, random = systemRandom } = deps
  if (end.isRepeated && open.count > 0) {
    const isChanged = await open.rest(pauses.repeats.nextMs(), signal)
    if (isChanged) pauses.repeats.reset()
    return
  }
  const { backoff } = pauses
  if (end.livedMs >= provenMs) {
    backoff.reset()
    pauses.brokeMs = clock.monotonicMs()
  }
  if (end.isDraining) return
  const isEager = clock.monotonicMs() - pauses.brokeMs < eagerMs
  const pauseMsMax = Math.min(backoff.nextMs(), isEager ? eagerRetryMsMax : Infinity)
  // The pause is random over its whole range: all agents of a restarted hub began theirs at the same moment.
  const pauseMs = Math.max(pauseMsMin, pauseMsMax * random.next())
  const retryMs = Math.max(pauseMs, refusalPauseMs(end.stayAwayMs, random))
  log.info('Tunnel waits', { reason: end.reason, retryMs: Math.round(retryMs) })
  options.onState?.({ state: 'waiting', retryMs, reason: end.reason })
  await clock.sleep(retryMs, signal)
}

/**
 * Returns the pause that the hub requested plus up to a second or a tenth, because other agents were given
 * the same.
 */
export function refusalPauseMs(stayAwayMs: number, random: Random): number {
  if (stayAwayMs === 0) return 0
  return stayAwayMs + Math.max(1_000, stayAwayMs / 10) * random.next()
}

/** Resolves undefined if the tunnel opened, or if the dial was abandoned because no other tunnel is left. */
async function dialOnce({
  options,
  handler,
  deps,
  open,
  signal,
}: Life): Promise<LifeEnd | undefined> {
  const report = options.onState ?? (() => undefined)
  const scope = linkedSignal(signal)
  const tunnel = {}
  const answering =
    typeof handler === 'function' ? handler((replica) => open.onReplica(tunnel, replica)) : handler
  report({ state: 'dialing' })
  try {
    using _dialing = open.beginDial(scope)
    const session = await dialTunnel(
      await options.endpoint(open.replicas),
      answering,
      deps,
      scope.signal,
    )
    void session.closed.then(() => scope[Symbol.dispose]())
    open.add(tunnel, session)
    report({ state: 'connected', session })
    deps.log.info('Tunnel connected')
    return undefined
  } catch (error) {
    const isGivenUp = scope.signal.aborted
    scope[Symbol.dispose]()
    return isGivenUp ? undefined : dialFault(error)
  }
}

/** RFC 9110, 15.5.10: the replica of the hub that answered has a tunnel of this agent. */
const conflict = 409

function dialFault(error: unknown): LifeEnd {
  const isRepeated = error instanceof TunnelDialError && error.status === conflict
  const stayAwayMs = isRepeated ? 0 : stayAway(error)
  return { reason: chain(error), livedMs: 0, isDraining: false, stayAwayMs, isRepeated }
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
