import type { Node } from '@skerry/api'

/** Its kubelet says so, and was heard of late: else the condition is no longer True. */
export function isNodeReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: state }) => type === 'Ready' && state === 'True',
  )
}
