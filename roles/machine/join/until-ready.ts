import { ExpectedError, exitCodes, messageOf, withTimeout } from '@skerry/base'
import { StepError, type OwnMachineContext } from '@skerry/provisioning'
import { machineBounds } from '../limits-table.ts'

const { readyMsMax, lookMs, askMsMax, restartsMax, journalLines } = machineBounds.untilReady

interface Awaited {
  readonly what: string
  /** The unit that must run meanwhile. */
  readonly unit: string
  /** Resolves with undefined once it is so, otherwise with the present state for people. */
  readonly look: (signal: AbortSignal) => Promise<string | undefined>
}

/** Waits, and prints each new state. Rejects with a StepError when the time is over, or the unit cannot run. */
export async function untilReady(
  { what, unit, look }: Awaited,
  context: OwnMachineContext,
): Promise<void> {
  const { clock, print, signal } = context
  const endMs = clock.monotonicMs() + readyMsMax
  let shown = ''
  for (;;) {
    const state = await stateOf(look, context)
    if (state === undefined) return
    if (state !== shown) print(state)
    shown = state
    const restarts = await restartsOf(unit, context)
    const why = restarts > restartsMax ? `${unit} has ended ${restarts} times` : undefined
    if (why !== undefined || clock.monotonicMs() > endMs) {
      await printJournal(unit, context)
      const late = `after ${readyMsMax / 1_000} s`
      const next = `read "journalctl -u ${unit}"; the same line continues when that is put right`
      throw new StepError(`${what} is not Ready: ${why ?? `${state}, ${late}`}; ${next}`)
    }
    await clock.sleep(lookMs, signal)
  }
}

/** A server that starts does not answer yet; the answer to an error that lasts is the end of the time. */
async function stateOf(
  look: Awaited['look'],
  { clock, signal }: OwnMachineContext,
): Promise<string | undefined> {
  try {
    const message = `no answer in ${askMsMax / 1_000} s`
    return await withTimeout({ ms: askMsMax, message, clock }, signal, look)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ExpectedError && error.exitCode === exitCodes.usage) throw error
    return messageOf(error)
  }
}

async function restartsOf(unit: string, { shell, signal }: OwnMachineContext): Promise<number> {
  const command = ['systemctl', 'show', '--property', 'NRestarts', '--value', unit] as const
  const { stdout } = await shell.run(command, { signal })
  return Number(stdout.trim()) || 0
}

async function printJournal(unit: string, context: OwnMachineContext): Promise<void> {
  const lines = ['--no-pager', '--output', 'cat', '--lines', String(journalLines), '--unit', unit]
  const { stdout } = await context.shell.run(['journalctl', ...lines], { signal: context.signal })
  context.print(stdout)
}
