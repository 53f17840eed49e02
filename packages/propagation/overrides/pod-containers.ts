import type { AnyObject } from '@skerry/api'

const templates: readonly string[] = ['ReplicaSet', 'Deployment', 'DaemonSet', 'StatefulSet', 'Job']

/** Returns the path of the containers that overriders change by default; undefined for other kinds. */
export function podContainersPath({ kind }: AnyObject): readonly string[] | undefined {
  if (kind === 'Pod') return ['spec', 'containers']
  return templates.includes(kind) ? ['spec', 'template', 'spec', 'containers'] : undefined
}
