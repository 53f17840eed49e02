import { quorumOf, type ClusterState, type SeenMember } from './cluster-state.ts'

/** Returns why a removal would end the site's ability to write, or undefined. */
export function removalFault(state: ClusterState, member: SeenMember): string | undefined {
  const voters = state.members.filter(({ isLearner }) => !isLearner)
  if (!state.hasQuorum) {
    return `${state.text}; without a quorum no member can be removed: start the silent ones, or run "skerry site recover" on the machine that shall go on alone`
  }
  if (member.isLearner) return undefined
  const left = voters.filter(({ id }) => id !== member.id)
  if (left.length === 0) return 'it is the only one, and has the whole state'
  const living = left.filter(({ status }) => status !== undefined)
  const needed = quorumOf(left.length)
  if (living.length >= needed) return undefined
  const dead = left.filter(({ status }) => status === undefined).map(({ name }) => name)
  return `${living.length} of the ${left.length} others answer, and ${needed} must; remove or start ${dead.join(', ')} first`
}
