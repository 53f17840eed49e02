import { createHash } from 'node:crypto'
import {
  StatusError,
  labelSelectorOf,
  type LabelSelectorFields,
  type Node,
  type NodeSelectorRequirement,
} from '@skerry/api'
import type { Refusal } from '../children/child.ts'
import type { Group } from '../groups/group.ts'
import { isReady } from '../groups/label-groups.ts'
import { edgeGroupWords } from './edge-group.ts'
import type { EdgeApplication, Overriders } from './edge-application.ts'

/** A group of nodes that an application names. It need not exist. */
export interface Target {
  readonly group: Group
  /** The ending of its children's names. */
  readonly suffix: string
  readonly overriders: Overriders
}

/** Returns the groups of an application, or the reason why one of them cannot be read. */
export function targetsOf(
  { spec = {} }: EdgeApplication,
  nodes: readonly Node[],
): Target[] | Refusal {
  const { targetNodeGroups = [], targetNodeLabels = [] } = spec.workloadScope ?? {}
  const targets: Target[] = []
  for (const { name, overriders = {} } of targetNodeGroups) {
    const isIn = ({ metadata }: Node): boolean =>
      metadata.labels?.[edgeGroupWords.belongsTo] === name
    const nodeSelector = { [edgeGroupWords.belongsTo]: name }
    const group = { name, nodeSelector, ...countsOf(nodes.filter(isIn)) }
    targets.push({ group, suffix: name, overriders })
  }
  for (const { labelSelector = {}, overriders = {} } of targetNodeLabels) {
    const selected = selectedGroup(labelSelector, nodes)
    if ('message' in selected) return selected
    targets.push({ group: selected, suffix: suffixOf(labelSelector), overriders })
  }
  const names = targets.map(({ group }) => group.name)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated === undefined) return targets
  return { reason: 'RepeatedTarget', message: `spec.workloadScope names "${repeated}" twice` }
}

function countsOf(nodes: readonly Node[]): Pick<Group, 'nodes' | 'readyNodes'> {
  return { nodes: nodes.length, readyNodes: nodes.filter(isReady).length }
}

function selectedGroup(fields: LabelSelectorFields, nodes: readonly Node[]): Group | Refusal {
  try {
    const selector = labelSelectorOf(fields)
    if (selector.isEmpty) {
      return { reason: 'EmptySelector', message: 'a labelSelector of targetNodeLabels is empty' }
    }
    const members = nodes.filter(({ metadata }) => selector.matches(metadata.labels))
    const requirements = requirementsOf(fields)
    return { name: selector.toString(), nodeSelector: {}, requirements, ...countsOf(members) }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { reason: 'InvalidSelector', message: error.message }
  }
}

/** Operators of selectors of labels are operators of affinity, too. */
function requirementsOf(fields: LabelSelectorFields): NodeSelectorRequirement[] {
  const labels = Object.entries(fields.matchLabels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    ...labels.map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...(fields.matchExpressions ?? []).map(({ key, operator, values }) => ({
      key,
      operator,
      ...(values === undefined ? {} : { values: [...values] }),
    })),
  ]
}

/** KubeEdge 1.23 hashes keys and values of labels, sorted by key. It has no name for expressions. */
function suffixOf({ matchLabels = {}, matchExpressions = [] }: LabelSelectorFields): string {
  const hash = createHash('sha256')
  for (const [key, value] of Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(key).update(value)
  }
  for (const { key, operator, values = [] } of matchExpressions) {
    hash.update(`\n${key} ${operator} ${values.join(',')}`)
  }
  return `ls-${hash.digest('hex').slice(0, 8)}`
}
