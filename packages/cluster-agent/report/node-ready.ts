import type { Node } from '@skerry/api'

/**
 * Reports whether its kubelet reports it ready and was heard lately: otherwise the condition is no longer
 * True.
 */
export function isNodeReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: state }) => type === 'Ready' && state === 'True',
  )
}
