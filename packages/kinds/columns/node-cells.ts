import type { Node } from '@skerry/api'

const rolePrefix = 'node-role.kubernetes.io/'
const roleLabel = 'kubernetes.io/role'

export function nodeStatusText({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready')
  const word = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'
  return spec?.unschedulable ? `${word},SchedulingDisabled` : word
}

export function nodeRolesText({ metadata }: Node): string {
  const roles = new Set<string>()
  for (const [label, value] of Object.entries(metadata.labels ?? {})) {
    if (label.startsWith(rolePrefix)) roles.add(label.slice(rolePrefix.length))
    else if (label === roleLabel) roles.add(value)
  }
  roles.delete('')
  return [...roles].toSorted().join(',') || '<none>'
}

export function nodeAddress({ status }: Node, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? '<none>'
}

export function nodeKernelText({ status }: Node): string {
  const kernel = status?.nodeInfo?.kernelVersion || '<unknown>'
  const architecture = status?.nodeInfo?.architecture
  return architecture ? `${kernel} (${architecture})` : kernel
}
