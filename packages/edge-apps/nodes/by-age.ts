import type { KubeObject } from '@skerry/api'

/** Puts the older set first: what it sets on a node stays if a newer one asks for something else. */
export function byAge(a: KubeObject, b: KubeObject): number {
  const ageA = `${a.metadata.creationTimestamp ?? ''} ${a.metadata.name}`
  return ageA < `${b.metadata.creationTimestamp ?? ''} ${b.metadata.name}` ? -1 : 1
}
