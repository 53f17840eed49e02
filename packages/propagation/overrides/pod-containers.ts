import type { AnyObject } from '@skerry/api'

const templates: readonly string[] = ['ReplicaSet', 'Deployment', 'DaemonSet', 'StatefulSet', 'Job']

/** Where containers stand that overriders mean without being told; undefined of any other kind. */
export function podContainersPath({ kind }: AnyObject): readonly string[] | undefined {
  if (kind === 'Pod') return ['spec', 'containers']
  return templates.includes(kind) ? ['spec', 'template', 'spec', 'containers'] : undefined
}
