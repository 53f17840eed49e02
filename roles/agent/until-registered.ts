import {
  ExpectedError,
  logFailure,
  createBackoff,
  exitCodes,
  sleepUnlessClockIsSet,
} from '@skerry/base'
import { createClockCheck } from '../runtime/clock-check.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { agentBounds } from './limits-table.ts'

/** The hub may not be there yet: that is normal. A wrong token or hash is not, and ends the agent. */
export async function untilRegistered<T>(
  hub: string,
  open: () => Promise<T>,
  context: RoleContext,
): Promise<T> {
  const backoff = createBackoff(agentBounds.untilRegistered.retry, context.random)
  const clockCheck = createClockCheck('hub', context)
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (context.signal.aborted || isFinal(error)) throw error
      const waitMs = backoff.nextMs()
      const fields = { waitMs: Math.round(waitMs) }
      logFailure(context.log, {
        subject: 'Register',
        message: 'Not registered yet',
        error,
        fields,
      })
      await clockCheck.look(hub, context.signal)
      await sleepUnlessClockIsSet(context.clock, waitMs, context.signal)
    }
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof ExpectedError && error.exitCode !== exitCodes.unreachable
}
