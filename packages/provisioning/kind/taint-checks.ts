import {
  checkLabelValue,
  checkQualifiedName,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type StatusCause,
} from '@skerry/api'
import type { EdgeClusterSpec, MachineRole, MachineTaint } from './edge-cluster.ts'

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Returns everything that is wrong with taints, by Kubernetes' rules for those of a Node. */
export function taintCauses(field: string, taints: readonly Partial<MachineTaint>[]) {
  const causes: StatusCause[] = []
  const seen = new Set<string>()
  for (const [at, { key = '', value = '', effect = '' }] of taints.entries()) {
    const path = `${field}[${at}]`
    causes.push(...checkQualifiedName(key).map((why) => fieldInvalid(`${path}.key`, key, why)))
    causes.push(...checkLabelValue(value).map((why) => fieldInvalid(`${path}.value`, value, why)))
    if (effect === '') causes.push(fieldRequired(`${path}.effect`))
    else if (!effects.includes(effect)) {
      causes.push(fieldNotSupported(`${path}.effect`, effect, effects))
    }
    // Upstream counts two taints with one key and effect as the same, whatever their values are.
    if (seen.has(`${key}:${effect}`)) causes.push(fieldDuplicate(path, `${key}:${effect}`))
    seen.add(`${key}:${effect}`)
  }
  return causes
}

const controlPlane = 'node-role.kubernetes.io/control-plane'

/** Returns the taints with which a machine's node registers: its own, and that of a master without workloads. */
export function registrationTaints(
  { mastersTakeWorkloads = true }: Pick<EdgeClusterSpec, 'mastersTakeWorkloads'>,
  { role, taints = [] }: { readonly role: MachineRole; readonly taints?: readonly MachineTaint[] },
): readonly MachineTaint[] {
  if (role !== 'Master' || mastersTakeWorkloads) return taints
  const known = taints.some(({ key, effect }) => key === controlPlane && effect === 'NoSchedule')
  return known ? taints : [...taints, { key: controlPlane, effect: 'NoSchedule' }]
}

/** Returns the labels of Kubernetes for a master, which no node may give itself. */
export function masterLabels({
  mastersTakeWorkloads = true,
}: Pick<EdgeClusterSpec, 'mastersTakeWorkloads'>): Readonly<Record<string, string>> {
  return {
    [controlPlane]: '',
    // A balancer of services sends nothing to machines that run none.
    ...(mastersTakeWorkloads
      ? {}
      : { 'node.kubernetes.io/exclude-from-external-load-balancers': '' }),
  }
}
