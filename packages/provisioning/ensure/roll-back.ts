import type { JobOrder, MachineContext } from '../contract/step.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { must, places } from './commands.ts'
import { exists, jobFiles, putBack, readSmall, type JobFiles } from './job-files.ts'
import { restorePackage } from './job-package.ts'
import { presentVersion } from './program-on-machine.ts'
import { awaitMachine, rolesOf, startRoles } from './start-roles.ts'

/** Makes the former program the machine's own again, with the store as it was, and waits until the machine is Ready. */
export function rollBack(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { hub, edge, machine, signal } = context
    const files = jobFiles(order)
    if (!(await exists(context, files.launcher))) {
      if (!(await restorePackage(order, context))) return 'nothing was changed'
      await must(context, ['rm', '-rf', '--', files.home])
      return 'the former package is installed again'
    }
    const needsStore = machine.role === 'Master' && (await isMigrated(files, context))
    if (needsStore) await must(context, ['systemctl', 'stop', 'skerry-site'])
    await putBack(context, { from: files.launcher, to: places.program, mode: '0755' })
    if (needsStore) await restoreStore(files, context)
    const roles = rolesOf(context)
    await startRoles(order, roles, context)
    await awaitMachine(order, { marks: {}, roles }, context)
    const version = await presentVersion(context)
    await hub.recordProgram(edge, { address: machine.address, version }, signal)
    // The machine works already: a package that cannot be restored must not keep its roles down.
    await restorePackage(order, context)
    // The next attempt begins like the first.
    await must(context, ['rm', '-rf', '--', files.home])
    const store = needsStore ? ', with the store of the backup' : ''
    return `Ready again with ${version}${store}`
  }
}

/** The new program migrates a store when it opens it, and the former one would refuse that. */
async function isMigrated({ schema }: JobFiles, context: MachineContext): Promise<boolean> {
  const [, before, after] =
    /^(\d+) (\d+)$/.exec((await readSmall(context, schema))?.trim() ?? '') ?? []
  return before !== undefined && Number(after) > Number(before)
}

/** Writes between the backup and this moment are lost; the site's clients list again. */
async function restoreStore(
  { backup, restored }: JobFiles,
  context: MachineContext,
): Promise<void> {
  if (await exists(context, restored)) return
  const timeoutMs = edgeJobBounds.backupMsMax
  const command = ['restore', backup, '--data-dir', `${places.data}/site`]
  await must(context, [places.program, ...command], { timeoutMs })
  await context.shell.write(restored, '', 0o600)
}
