import { systemClock } from '@skerry/base'
import { lookAtMembers, openKnownMembers } from '../../site/etcd/known-members.ts'
import type { SeenMember } from '../../site/etcd/cluster-state.ts'
import { removeMember } from '../../site/etcd/remove-member.ts'
import { isWitness } from '../../site/etcd/witness.ts'
import { bytesText } from '../text/human-figures.ts'
import { printTable } from '../text/print-table.ts'
import { askMs } from '../limits-table.ts'

/** Prints the members, and the state of all of them on stderr. */
export async function printMembers({
  dataDir,
  output,
}: {
  readonly dataDir: string
  readonly output: 'json' | undefined
}): Promise<void> {
  const doing = 'Cannot list the members'
  using known = await openKnownMembers(dataDir, doing, systemClock)
  const state = await lookAtMembers(known, doing, AbortSignal.timeout(askMs))
  const { members, hasQuorum, text } = state
  if (output === 'json') {
    console.log(JSON.stringify({ hasQuorum, state: text, members: members.map(plainOf) }))
    return
  }
  printTable([heads, ...members.map(cellsOf)])
  console.error(text)
}

export async function printRemoval(options: {
  readonly dataDir: string
  readonly name: string
}): Promise<void> {
  const { name, address } = await removeMember(options, systemClock, AbortSignal.timeout(askMs))
  console.log(`${name || address} is removed; stop its master, if it still runs`)
}

const heads = ['NAME', 'ADDRESS', 'ROLE', 'HEALTHY', 'DB SIZE', 'VERSION', 'ID']

function cellsOf({ id, name, address, isLeader, isLearner, isHealthy, status }: SeenMember) {
  const role = roleOf({ name, isLeader, isLearner })
  const size = status ? bytesText(status.dbSizeBytes) : '-'
  const word = isHealthy ? 'yes' : status ? 'no' : 'silent'
  return [name || '-', address, role, word, size, status?.version ?? '-', BigInt(id).toString(16)]
}

function roleOf({
  name,
  isLeader,
  isLearner,
}: Pick<SeenMember, 'name' | 'isLeader' | 'isLearner'>) {
  if (isLearner) return 'learner'
  if (isWitness(name)) return isLeader ? 'witness, leader' : 'witness'
  return isLeader ? 'leader' : 'follower'
}

function plainOf({ status, id, clientUrl: _url, ...member }: SeenMember): object {
  return {
    ...member,
    isWitness: isWitness(member.name),
    id: BigInt(id).toString(16),
    answers: status !== undefined,
    dbSizeBytes: status?.dbSizeBytes,
    dbInUseBytes: status?.dbInUseBytes,
    version: status?.version,
    errors: status?.errors,
  }
}
