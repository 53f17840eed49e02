import { messageOf } from '@skerry/base'
import { heldPrograms, type ProgramOptions } from '../../program/program-for-machines.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { hubBounds } from '../limits-table.ts'

/** Adds the versions of every program that this hub holds for machines, with and without their digests, until the signal aborts. */
export async function followVersions(
  options: ProgramOptions,
  offered: Set<string>,
  { clock, log, signal }: RoleContext,
): Promise<void> {
  for (;;) {
    try {
      for (const { version } of await heldPrograms(options, signal)) {
        offered.add(version.replace(/-[0-9a-f]{12}$/, ''))
        offered.add(version)
      }
    } catch (error) {
      signal.throwIfAborted()
      log.info('Cannot read the versions of programs for machines', { problem: messageOf(error) })
    }
    await clock.sleep(hubBounds.hubSide.listProgramsMs, signal)
  }
}
