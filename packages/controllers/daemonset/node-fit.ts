import {
  matchesNodeAffinity,
  toleratesTaint,
  type DaemonSet,
  type Node,
  type PodSpec,
  type Toleration,
} from '@skerry/api'

/** Daemons tolerate the taints that evict other pods. */
const daemonTolerations: readonly Toleration[] = Object.freeze<Toleration[]>([
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
])

const hostNetworkToleration: Toleration = Object.freeze<Toleration>({
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
})

/**
 * Returns the template's own tolerations and those of every daemon, which replace ones of the same
 * key and effect.
 */
export function tolerationsOf(spec: PodSpec | undefined): Toleration[] {
  const added = spec?.hostNetwork
    ? [...daemonTolerations, hostNetworkToleration]
    : [...daemonTolerations]
  const own = (spec?.tolerations ?? []).filter(
    (each) =>
      !added.some(
        ({ key, effect, operator }) =>
          each.key === key && each.effect === effect && (each.operator ?? 'Equal') === operator,
      ),
  )
  return [...own, ...added]
}

export interface NodeFit {
  /** True if a pod belongs here. */
  readonly shouldRun: boolean
  /** True if an existing pod may stay, because a NoSchedule taint was added later. */
  readonly shouldStay: boolean
}

const noFit: NodeFit = Object.freeze({ shouldRun: false, shouldStay: false })

/** Checks affinity and taints only; the scheduler decides whether there is room. */
export function fitOf(set: DaemonSet, node: Node): NodeFit {
  const spec = set.spec?.template.spec
  if (spec?.nodeName && spec.nodeName !== node.metadata.name) return noFit
  const { name = '', labels = {} } = node.metadata
  if (!matchesNodeAffinity(spec, { name, labels })) return noFit
  const tolerations = tolerationsOf(spec)
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint) => !tolerations.some((each) => toleratesTaint(each, taint)),
  )
  const repels = (effect: string): boolean => untolerated.some((taint) => taint.effect === effect)
  const shouldStay = !repels('NoExecute')
  return { shouldRun: shouldStay && !repels('NoSchedule'), shouldStay }
}
