import type { EtcdMember, EtcdMemberStatus } from '@skerry/store'

/** One member as this master sees it. */
export interface SeenMember {
  readonly id: string
  /** Empty for a learner that has never started. */
  readonly name: string
  readonly address: string
  readonly clientUrl: string | undefined
  readonly isLeader: boolean
  readonly isLearner: boolean
  /** True if it answers, knows a leader and reports no fault. */
  readonly isHealthy: boolean
  /** Missing if it does not answer. */
  readonly status?: EtcdMemberStatus
}

export interface ClusterState {
  readonly members: readonly SeenMember[]
  readonly hasQuorum: boolean
  /** One sentence for the log, readiness and commands. */
  readonly text: string
}

/** Puts a list of members and their answers together; `undefined` stands for silence. */
export function clusterState(
  members: readonly EtcdMember[],
  answers: readonly (EtcdMemberStatus | undefined)[],
): ClusterState {
  const leaderId = leaderOf(members, answers)
  const seen = members.map((member, at): SeenMember => {
    const { id, name, peerUrls, clientUrls, isLearner } = member
    const status = answers[at]
    const [url = peerUrls[0] ?? ''] = clientUrls
    return {
      id,
      name,
      address: URL.parse(url)?.hostname ?? url,
      clientUrl: clientUrls[0],
      isLeader: id === leaderId,
      isLearner,
      isHealthy: status?.leaderId !== undefined && status.errors.length === 0,
      ...(status ? { status } : {}),
    }
  })
  const voters = seen.filter(({ isLearner }) => !isLearner)
  const answering = voters.filter(({ status }) => status !== undefined)
  const hasQuorum = leaderId !== undefined && answering.length >= quorumOf(voters.length)
  return { members: seen, hasQuorum, text: textOf({ voters, answering, hasQuorum, leaderId }) }
}

/** The number of voters of which the others cannot decide without it. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1
}

/** Members that are cut off may still name an old one: the leader is one that names itself, at the newest revision. */
function leaderOf(
  members: readonly EtcdMember[],
  answers: readonly (EtcdMemberStatus | undefined)[],
): string | undefined {
  const named = answers.flatMap((status) => (status?.leaderId === undefined ? [] : [status]))
  const self = named.filter(({ memberId, leaderId }) => memberId === leaderId)
  const newest = (self.length > 0 ? self : named).toSorted((a, b) => b.revision - a.revision)[0]
  return members.find(({ id }) => id === newest?.leaderId)?.id
}

function textOf({
  voters,
  answering,
  hasQuorum,
  leaderId,
}: {
  voters: readonly SeenMember[]
  answering: readonly SeenMember[]
  hasQuorum: boolean
  leaderId: string | undefined
}): string {
  const count = `${answering.length} of ${voters.length} members answer`
  const silent = voters.filter((each) => !answering.includes(each))
  const names = silent.map(({ name, address }) => name || address).join(', ')
  if (!hasQuorum) {
    if (answering.length >= quorumOf(voters.length) && leaderId === undefined) {
      return `no leader: ${count}, and they have not elected one yet`
    }
    return `quorum lost: ${count}${names === '' ? '' : `; silent: ${names}`}`
  }
  const faults = voters.flatMap(({ name, status }) =>
    (status?.errors ?? []).map((error) => `${name}: ${error}`),
  )
  const rest = [...(names === '' ? [] : [`silent: ${names}`]), ...faults]
  return `quorum: ${count}${rest.length === 0 ? '' : `; ${rest.join('; ')}`}`
}
