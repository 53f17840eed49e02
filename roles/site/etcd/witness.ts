import type { SeenMember } from './cluster-state.ts'

/** etcd's list of members has no other place for it: the name says that a member only votes. */
const pattern = /^witness(?:-|$)/

/** Reports whether this is the name of a witness, which no master may have. */
export function isWitness(name: string): boolean {
  return pattern.test(name)
}

/** Returns the member that leads instead of a witness: the same one for all masters. Undefined if no witness leads. */
export function heirOf(members: readonly SeenMember[]): string | undefined {
  if (!members.some(({ name, isLeader }) => isLeader && isWitness(name))) return undefined
  const able = members.filter((each) => each.isHealthy && !each.isLearner && !isWitness(each.name))
  return able.map(({ id }) => id).toSorted()[0]
}
