import { request } from 'node:https'
import type { Clock, Logger } from '@skerry/base'
import type { TunnelAgentState } from '@skerry/tunnel'
import { agentBounds } from './limits-table.ts'

const { differenceMsMax, lookMs, answerMsMax } = agentBounds.clockCheck

export interface ClockCheck {
  /** Checks whether the time may be the reason for a failed request to the hub, and logs it then. */
  look(signal: AbortSignal): Promise<void>
}

/**
 * Explains failures through wrong clocks. A certificate is valid between two dates: if the clock of a machine
 * or of its hub is wrong, each takes the other's for expired or premature, and neither can tell why.
 */
export function createClockCheck(
  hub: string,
  { clock, log }: { clock: Clock; log: Logger },
): ClockCheck {
  let lookedMs = -Infinity
  return {
    async look(signal) {
      if (clock.monotonicMs() - lookedMs < lookMs) return
      lookedMs = clock.monotonicMs()
      const hubMs = await readClock(hub, signal)
      const differenceMs = hubMs === undefined ? 0 : clock.now() - hubMs
      if (Math.abs(differenceMs) < differenceMsMax) return
      log.error('Clocks differ: set the one that is wrong', {
        here: new Date(clock.now()).toISOString(),
        hub: new Date(hubMs ?? 0).toISOString(),
        difference: `this machine is ${durationText(differenceMs)} the hub`,
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
  const check = createClockCheck(options.hub, { clock, log })
  return {
    ...options,
    onTunnel(state) {
      options.onTunnel?.(state)
      if (state.state === 'waiting') void check.look(signal)
    },
  }
}

/**
 * Resolves with the hub's Date header (RFC 9110, 6.6.1), in milliseconds since the epoch. The certificate is
 * not verified, because the clock may be what makes it fail: the request reveals nothing to the server, and
 * its answer is only logged.
 */
function readClock(hub: string, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const options = { method: 'HEAD', rejectUnauthorized: false, agent: false, signal } as const
    const asking = request(new URL('/livez', hub), { ...options, timeout: answerMsMax })
    asking.once('response', (answer) => {
      answer.resume()
      const dateMs = Date.parse(answer.headers.date ?? '')
      resolve(Number.isNaN(dateMs) ? undefined : dateMs)
    })
    asking.once('timeout', () => asking.destroy())
    // There is nothing to compare with; the original caller reports why the hub is not reachable.
    asking.once('error', () => resolve(undefined))
    asking.once('close', () => resolve(undefined))
    asking.end()
  })
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
