import { StepError, type ForMachineContext } from '../contract/step.ts'
import { membersAt, removeAt } from './members.ts'
import { witnessName } from './join-master.ts'

/** Sees that the others can decide without a master or a witness that leaves, before its pods are moved. */
export async function checkQuorum(context: ForMachineContext): Promise<string> {
  const { machine, master } = context
  const name = memberNameOf(context)
  if (name === undefined) return 'the machine never was a member'
  const { members } = await membersAt({ ...context, shell: await context.shellOf(master) })
  const voters = members.filter(({ isLearner }) => !isLearner)
  if (!voters.some((each) => each.name === name)) return `member ${name} has no vote`
  const left = voters.filter((each) => each.name !== name)
  const missing = left.filter(({ isHealthy }) => !isHealthy)
  const needed = Math.floor(left.length / 2) + 1
  if (left.length - missing.length >= needed) {
    return `${left.length - missing.length} of the ${left.length} others decide without it`
  }
  const names = missing.map((each) => each.name).join(', ')
  const why = `without member ${name}, etcd would have no quorum, because ${names} is not healthy`
  throw new StepError(`${machine.address} cannot leave: ${why}: put that right, or remove it first`)
}

/** Takes the vote of a master or a witness that leaves. Refused while the others could decide nothing without it. */
export async function removeMember(context: ForMachineContext): Promise<string> {
  const { master, record } = context
  const name = memberNameOf(context)
  if (name === undefined) return 'the machine never was a member'
  const site = { ...context, shell: await context.shellOf(master) }
  const { members } = await membersAt(site)
  // It may have been removed by hand, or by an attempt whose answer was lost.
  if (members.some((each) => each.name === name)) await removeAt(site, name)
  record({ site: 'Removed' })
  return `member ${name} has no vote any more`
}

function memberNameOf({ machine, known }: ForMachineContext): string | undefined {
  const status = known().find(({ address }) => address === machine.address)
  return machine.role === 'Witness' ? witnessName : (status?.member ?? status?.node)
}
