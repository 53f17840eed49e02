import {
  toleratesTaint,
  type DaemonSet,
  type Node,
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
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
  if (!matchesNodeSelector(spec, node)) return noFit
  const tolerations = tolerationsOf(spec)
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint) => !tolerations.some((each) => toleratesTaint(each, taint)),
  )
  const repels = (effect: string): boolean => untolerated.some((taint) => taint.effect === effect)
  const shouldStay = !repels('NoExecute')
  return { shouldRun: shouldStay && !repels('NoSchedule'), shouldStay }
}

function matchesNodeSelector(spec: PodSpec | undefined, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  const selector = Object.entries(spec?.nodeSelector ?? {})
  if (!selector.every(([key, value]) => labels[key] === value)) return false
  const terms =
    spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms === undefined || terms.some((term) => matchesTerm(term, node))
}

/** A term without any requirement matches nothing. */
function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  const fields = { 'metadata.name': node.metadata.name ?? '' }
  return (
    matchExpressions.every((each) => isMet(each, labels)) &&
    matchFields.every((each) => isMet(each, fields))
  )
}

function isMet(
  requirement: NodeSelectorRequirement,
  of: Readonly<Record<string, string>>,
): boolean {
  const { key, operator, values = [] } = requirement
  const value = of[key]
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}
