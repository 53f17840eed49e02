import { posix } from 'node:path'
import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import type { PackageSource } from '../kind/edge-cluster.ts'
import { places } from './commands.ts'
import { copyParts } from './copy-package.ts'
import { installParts } from './install-package.ts'
import { exists, jobFiles, keepOnce, readSmall } from './job-files.ts'
import { wantedProgram } from './program-on-machine.ts'

export function jobHasPackage({ job }: JobOrder): boolean {
  return job.spec.upgrade?.package !== undefined
}

function packageOfJob({ job }: JobOrder): PackageSource {
  const asked = job.spec.upgrade?.package
  if (asked === undefined) throw new StepError('the job names no package', { isFinal: true })
  return asked
}

/** Copies the parts of the job's package that a machine lacks. Nothing uses them yet. */
export function copyJobPackage(order: JobOrder): (context: MachineContext) => Promise<string> {
  return (context) => copyParts(packageOfJob(order), context)
}

/** Lets the new program install what its package has, and keeps the note about the package before it. */
export function installJobPackage(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { packageRecord, packageKey, hadNoPackage } = jobFiles(order)
    if (!(await exists(context, packageRecord)) && !(await exists(context, hadNoPackage))) {
      if (await exists(context, places.packageRecord)) {
        // The record comes last: it says that both are there.
        await keepOnce(context, places.packageKey, packageKey)
        await keepOnce(context, places.packageRecord, packageRecord)
      } else await context.shell.write(hadNoPackage, '', 0o600)
    }
    const { launcher } = await wantedProgram(order, context)
    return installParts(launcher, packageOfJob(order), context)
  }
}

/** Installs the package again that a machine had before the job. Resolves with false if it had none, or has it still. */
export async function restorePackage(order: JobOrder, context: MachineContext): Promise<boolean> {
  const { packageRecord, packageKey } = jobFiles(order)
  const text = await readSmall(context, packageRecord)
  if (text === undefined) return false
  const digest = /"digest":"(sha256:[0-9a-f]{64})"/.exec(text)?.[1]
  const publicKey = await readSmall(context, packageKey)
  if (digest === undefined || publicKey === undefined) {
    throw new StepError(`${posix.dirname(packageRecord)} does not tell the former package`)
  }
  await installParts(places.program, { digest, publicKey }, context)
  return true
}
