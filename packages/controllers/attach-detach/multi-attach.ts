import type { Pod } from '@skerry/api'

/**
 * Explains why a pod does not get a volume that other pods hold. Pods of other namespaces are
 * counted, not named, because readers of the event may not be allowed to see them.
 */
export function multiAttachMessage(volume: string, pod: Pod, holders: readonly Pod[]): string {
  const prefix = `Multi-Attach error for volume "${volume}" `
  if (holders.length === 0) {
    return `${prefix}Volume is already exclusively attached to one node and can't be attached to another`
  }
  const near = holders.filter(({ metadata }) => metadata.namespace === pod.metadata.namespace)
  const far = `${holders.length - near.length} pod(s) in different namespaces`
  if (near.length === 0) return `${prefix}Volume is already used by ${far}`
  const names = near.map(({ metadata }) => metadata.name).join(', ')
  const rest = near.length === holders.length ? '' : ` and ${far}`
  return `${prefix}Volume is already used by pod(s) ${names}${rest}`
}
