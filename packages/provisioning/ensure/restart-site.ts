import { posix } from 'node:path'
import { provisioningBounds } from '../limits-table.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { must, places, untilTrue } from './commands.ts'
import { exists } from './job-files.ts'
import { membersAt } from './members.ts'
import { whyNoMember, whyNoRestart } from './member-health.ts'
import { untilServed } from './serving-site.ts'
import { startUnit } from './site.ts'

const owed = posix.join(places.settings, 'owed-restart')

/**
 * Writes settings of units, and starts these again if the settings are others. A machine on which that broke off in
 * between remembers the start that it owes, because its files look as if everything were done. Resolves with whether
 * the units were started again.
 */
export async function applySettings(
  context: MachineContext,
  {
    isNew,
    write,
    restart,
  }: {
    readonly isNew: boolean
    readonly write: () => Promise<void>
    readonly restart: () => Promise<void>
  },
): Promise<boolean> {
  if (isNew) await context.shell.write(owed, '', 0o600)
  await write()
  if (!isNew && !(await exists(context, owed))) return false
  await restart()
  await must(context, ['rm', '-f', '--', owed])
  return true
}

/**
 * Starts the site of a master again while no other master of the cluster is started again, and waits until it serves and
 * its member of etcd is healthy. Refused while etcd would lose its quorum meanwhile.
 */
export function restartSite(context: MachineContext): Promise<void> {
  return context.alone(async () => {
    const { machine, known } = context
    const { member } = known().find(({ address }) => address === machine.address) ?? {}
    if (member !== undefined) await requireOthers(context)
    await startUnit('skerry-site', context)
    await untilServed(context)
    if (member === undefined) return
    const otherwise = `member ${member} of etcd is not healthy; read "journalctl -u skerry-site" on ${machine.address}`
    const isHealthy = async (): Promise<boolean> => (await whyNoMember(context)) === undefined
    await untilTrue(isHealthy, { msMax: provisioningBounds.steps.readyMsMax, otherwise }, context)
  })
}

/** Members that have lost their quorum lose nothing more, and a start may bring it back. */
async function requireOthers(context: MachineContext): Promise<void> {
  const { hasQuorum } = await membersAt(context)
  const why = hasQuorum ? await whyNoRestart(context) : undefined
  if (why === undefined) return
  throw new StepError(`${context.machine.address}: ${why}: put it right first`)
}
