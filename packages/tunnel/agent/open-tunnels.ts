import { createWakeFlag, type Clock, type WakeFlag } from '@skerry/base'
import type { AgentSession } from '../session/agent-session.ts'
import { tunnelBounds } from '../limits-table.ts'

/** The identity that the far end of a tunnel reports if a hub has several replicas. */
export interface HubReplica {
  readonly id: string
  /** The number of replicas that serve now. */
  readonly count: number
}

/** How a tunnel ended, or why none opened. */
export interface LifeEnd {
  readonly reason: string
  readonly livedMs: number
  /** The session still finishes its streams while the next one is dialled. */
  readonly isDraining: boolean
  readonly stayAwayMs: number
  /** A replica answered that has a tunnel of this agent already. */
  readonly isRepeated: boolean
}

const { tunnelsMax } = tunnelBounds.openTunnels
export const provenMs = tunnelBounds.openTunnels.provenMs

/** One tunnel of an agent, from its dial on. */
interface AgentTunnel {
  replica?: HubReplica
}

/** Holds the open tunnels of one agent: one, or one to each replica of a hub that reports several. */
export class OpenTunnels {
  readonly #clock: Clock
  readonly #onCount: (count: number) => void
  readonly #open = new Set<AgentTunnel>()
  readonly #changed: WakeFlag = createWakeFlag()
  #lastEnd: LifeEnd | undefined
  #dialing: AbortController | undefined

  constructor(clock: Clock, onCount: (count: number) => void) {
    this.#clock = clock
    this.#onCount = onCount
  }

  get count(): number {
    return this.#open.size
  }

  /** Returns the replicas at which they end, as far as these have reported it. */
  get replicas(): readonly string[] {
    return [...this.#open].flatMap(({ replica }) => (replica ? [replica.id] : []))
  }

  /** Resolves when another tunnel should be dialled, with the end of the last one if it ended since. */
  async untilWanted(signal: AbortSignal): Promise<LifeEnd | undefined> {
    for (;;) {
      signal.throwIfAborted()
      const end = this.#lastEnd
      this.#lastEnd = undefined
      if (this.#open.size < this.#wanted()) return end
      await this.#changed.wait(signal)
    }
  }

  /** Resolves false after that time, or true once a tunnel ended or a replica reported another number. */
  async rest(ms: number, signal: AbortSignal): Promise<boolean> {
    let isOver = false
    using _timer = this.#clock.setTimer(ms, () => {
      isOver = true
      this.#changed.raise()
    })
    await this.#changed.wait(signal)
    return !isOver
  }

  /** Records the replica of a tunnel that is being dialled, or is open. */
  onReplica(tunnel: AgentTunnel, replica: HubReplica): void {
    const hasChanged = tunnel.replica?.count !== replica.count
    tunnel.replica = replica
    if (hasChanged) this.#changed.raise()
  }

  /** The dial of a further tunnel is given up when the last open one ends: it may lead nowhere. */
  beginDial(dialing: AbortController): Disposable {
    this.#dialing = this.#open.size > 0 ? dialing : undefined
    return { [Symbol.dispose]: () => (this.#dialing = undefined) }
  }

  add(tunnel: AgentTunnel, session: AgentSession): void {
    this.#open.add(tunnel)
    this.#onCount(this.#open.size)
    void lifeOf(session, this.#clock).then((end) => {
      this.#open.delete(tunnel)
      this.#lastEnd = end
      this.#changed.raise()
      if (this.#open.size === 0) {
        this.#dialing?.abort(new Error('Cannot go on: the last tunnel has ended'))
      }
      this.#onCount(this.#open.size)
    })
  }

  #wanted(): number {
    const counts = [...this.#open].map(({ replica }) => replica?.count ?? 1)
    return Math.min(Math.max(1, ...counts), tunnelsMax)
  }
}

async function lifeOf(session: AgentSession, clock: Clock): Promise<LifeEnd> {
  const startMs = clock.monotonicMs()
  const reason = await Promise.race([session.closed, session.draining.then(() => undefined)])
  const livedMs = clock.monotonicMs() - startMs
  // Draining right after the dial must not cause a tight loop.
  const isDraining = reason === undefined && livedMs >= provenMs
  const why = reason ?? (isDraining ? 'the hub drains' : await session.closed)
  return { reason: why, livedMs, isDraining, stayAwayMs: 0, isRepeated: false }
}
