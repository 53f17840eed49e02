import type { ForMachineContext } from '../contract/step.ts'
import { membersAt, removeAt } from './members.ts'
import { witnessName } from './join-master.ts'

/** Takes the vote of a master or a witness that leaves. Refused while the others could decide nothing without it. */
export async function removeMember(context: ForMachineContext): Promise<string> {
  const { machine, master, known, record } = context
  const status = known().find(({ address }) => address === machine.address)
  const name = machine.role === 'Witness' ? witnessName : (status?.member ?? status?.node)
  if (name === undefined) return 'the machine never was a member'
  const site = { ...context, shell: await context.shellOf(master) }
  const { members } = await membersAt(site)
  // It may have been removed by hand, or by an attempt whose answer was lost.
  if (members.some((each) => each.name === name)) await removeAt(site, name)
  record({ site: 'Removed' })
  return `member ${name} has no vote any more`
}
