import type { Shell } from '../contract/shell.ts'
import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { isOnEtcd } from '../kind/masters-checks.ts'
import { membersAt, voterNamed } from './members.ts'
import { nodeNameOf } from './node-name.ts'

/** Returns the machine whose site is asked about a machine: a master answers for itself, so that its own site must serve. */
export function siteFor({ machine, master, shell, shellOf }: MachineContext): Promise<Shell> {
  return machine.role === 'Master' ? Promise.resolve(shell) : shellOf(master)
}

/** Returns why a master's member is not healthy, as a clause; undefined if it is, or the machine has none. */
export async function whyNoMember(context: MachineContext): Promise<string | undefined> {
  const { edge, machine } = context
  if (machine.role !== 'Master' || !isOnEtcd(edge.spec)) return undefined
  const name = await nodeNameOf(context)
  try {
    const seen = await membersAt(context)
    if (!seen.hasQuorum) return `the members of etcd have no quorum: ${seen.state}`
    const own = voterNamed(seen, name)
    return own?.isHealthy === true ? undefined : `member ${name} of etcd is not healthy`
  } catch (error) {
    if (!(error instanceof StepError)) throw error
    return error.message
  }
}

/**
 * Returns why a master may not be started again, as a clause: others are missing, so that etcd would lose its quorum
 * meanwhile. Returns undefined if it may, or if there are so few members that etcd loses its quorum in any case.
 */
export async function whyNoRestart(context: MachineContext): Promise<string | undefined> {
  const { edge, machine } = context
  if (machine.role !== 'Master' || !isOnEtcd(edge.spec)) return undefined
  const name = await nodeNameOf(context)
  const { members } = await membersAt(context)
  const voters = members.filter(({ isLearner }) => !isLearner)
  const needed = Math.floor(voters.length / 2) + 1
  const others = voters.filter((each) => each.name !== name)
  const missing = others.filter(({ isHealthy }) => !isHealthy)
  if (others.length < needed || others.length - missing.length >= needed) return undefined
  const names = missing.map((each) => each.name).join(', ')
  return `etcd would lose its quorum without ${name}, because ${names} is not healthy`
}

/** Rejects with a StepError if a job may not start the site of a master again: another master may have failed since the check. */
export async function requireQuorum({ job }: JobOrder, context: MachineContext): Promise<void> {
  if (job.spec.checks?.health === false) return
  const why = await whyNoRestart(context)
  if (why === undefined) return
  throw new StepError(`${context.machine.address}: ${why}: put it right first`)
}
