import {
  matchesNodeAffinity,
  toleratesTaint,
  type DaemonSet,
  type Node,
  type PodSpec,
  type Toleration,
} from '@skerry/api'

/** Daemons stay through what drives other pods away. */
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

/** The template's own, and those of every daemon; one of the same key and effect is replaced. */
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
  /** A pod belongs here. */
  readonly shouldRun: boolean
  /** One that is here may stay: a NoSchedule taint came later. */
  readonly shouldStay: boolean
}

const noFit: NodeFit = Object.freeze({ shouldRun: false, shouldStay: false })

/** Affinity and taints only: whether there is room is the scheduler's word. */
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
