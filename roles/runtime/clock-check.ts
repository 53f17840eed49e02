import type { Clock, Logger } from '@skerry/base'
import { readServerTime } from '@skerry/client'
import type { TunnelAgentState } from '@skerry/tunnel'
import { runtimeBounds } from './limits-table.ts'

const { differenceMsMax, lookMs } = runtimeBounds.clockCheck

export interface ClockCheck {
  /** Checks whether the time may be the reason for a failed request to the peer, and logs it then. */
  look(url: string, signal: AbortSignal): Promise<void>
}

/**
 * Explains failures through wrong clocks. A certificate is valid between two dates: if the clock of a machine
 * or of its peer is wrong, each takes the other's for expired or premature, and neither can tell why.
 */
export function createClockCheck(
  peer: 'hub' | 'server',
  { clock, log }: { clock: Clock; log: Logger },
): ClockCheck {
  let lookedMs = -Infinity
  return {
    async look(url, signal) {
      if (clock.monotonicMs() - lookedMs < lookMs) return
      lookedMs = clock.monotonicMs()
      // Without an answer there is nothing to compare with; the caller reports why the peer is not reachable.
      const ask = readServerTime({ server: url }, { clock }, signal)
      const peerMs = await ask.catch(() => undefined)
      const differenceMs = peerMs === undefined ? 0 : clock.now() - peerMs
      if (Math.abs(differenceMs) < differenceMsMax) return
      log.error('Clocks differ: set the one that is wrong', {
        here: new Date(clock.now()).toISOString(),
        [peer]: new Date(peerMs ?? 0).toISOString(),
        difference: `this machine is ${durationText(differenceMs)} the ${peer}`,
      })
    },
  }
}

interface Dialling {
  readonly hub: string
  readonly onTunnel?: (state: TunnelAgentState) => void
}

/** Checks the hub's clock whenever there is no tunnel to it. */
export function withClockCheck<Options extends Dialling>(
  options: Options,
  { clock, log, signal }: { clock: Clock; log: Logger; signal: AbortSignal },
): Options & Required<Pick<Dialling, 'onTunnel'>> {
  const check = createClockCheck('hub', { clock, log })
  return {
    ...options,
    onTunnel(state) {
      options.onTunnel?.(state)
      if (state.state === 'waiting') void check.look(options.hub, signal)
    },
  }
}

const units: readonly [name: string, ms: number][] = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
]

function durationText(differenceMs: number): string {
  const ms = Math.abs(differenceMs)
  const [name, unitMs] = units.find(([, size]) => ms >= 2 * size) ?? (['seconds', 1_000] as const)
  return `${Math.round(ms / unitMs)} ${name} ${differenceMs > 0 ? 'ahead of' : 'behind'}`
}
