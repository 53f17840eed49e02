import type { Pod } from '@skerry/api'
import { specOf } from '../pod/pod-spec.ts'

export interface PodFieldContext {
  pod: Pod
  podIps: readonly string[]
  hostIps: readonly string[]
}

/** Returns a field of the downward API, for variables and files alike; undefined if there is no such field. */
export function podField(path: string, context: PodFieldContext): string | undefined {
  const { pod, podIps, hostIps } = context
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (subscript) {
    const map = subscript[1] === 'labels' ? pod.metadata.labels : pod.metadata.annotations
    return map?.[subscript[2] ?? ''] ?? ''
  }
  const spec = specOf(pod)
  const fields: Readonly<Record<string, () => string>> = {
    'metadata.name': () => pod.metadata.name ?? '',
    'metadata.namespace': () => pod.metadata.namespace ?? '',
    'metadata.uid': () => pod.metadata.uid ?? '',
    'metadata.labels': () => formatMap(pod.metadata.labels),
    'metadata.annotations': () => formatMap(pod.metadata.annotations),
    'spec.nodeName': () => spec.nodeName ?? '',
    'spec.serviceAccountName': () => spec.serviceAccountName ?? '',
    'status.hostIP': () => hostIps[0] ?? '',
    'status.hostIPs': () => hostIps.join(','),
    'status.podIP': () => podIps[0] ?? '',
    'status.podIPs': () => podIps.join(','),
  }
  return fields[path]?.()
}

/** Writes one `key="value"` per line, ordered by key. */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .join('\n')
}

/** Quotes printable text as Go's %q does: JSON's escapes are the same there. */
function quote(value: string): string {
  return JSON.stringify(value)
}
