import {
  cloneJson,
  meetsRequirement,
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
  type PodSpec,
  type PodTemplateSpec,
} from '@skerry/api'
import type { Group } from '../groups/group.ts'

/** The template for one group, or the reason why no node of the group can run its pods. */
export type PlacedTemplate =
  | { readonly template: PodTemplateSpec; readonly contradiction?: undefined }
  | { readonly template?: undefined; readonly contradiction: string }

/**
 * Adds the group's labels to the template's own node selector, and its requirements to the affinity. A template that asks
 * for other nodes is a contradiction: its pods would be pending for ever, and nobody would know why.
 */
export function placePods(
  template: PodTemplateSpec,
  { nodeSelector, requirements = [] }: Pick<Group, 'nodeSelector' | 'requirements'>,
): PlacedTemplate {
  const placed = cloneJson(template)
  const spec: PodSpec = placed.spec ?? { containers: [] }
  const contradiction = contradictionOf(spec, nodeSelector, requirements)
  if (contradiction !== undefined) return { contradiction }
  const selector = { ...spec.nodeSelector, ...nodeSelector }
  return {
    template: {
      ...placed,
      spec: {
        ...spec,
        ...(Object.keys(selector).length === 0 ? {} : { nodeSelector: selector }),
        ...(requirements.length === 0 ? {} : { affinity: required(spec, requirements) }),
      },
    },
  }
}

/** Terms are alternatives, so that each of them gets the requirements. */
function required(
  { affinity = {} }: PodSpec,
  requirements: readonly NodeSelectorRequirement[],
): NonNullable<PodSpec['affinity']> {
  const own = termsOf({ affinity })
  const terms = own.length === 0 ? [{}] : own
  const nodeSelectorTerms = terms.map((term: NodeSelectorTerm) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...requirements],
  }))
  const nodeAffinity = {
    ...affinity.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
  }
  return { ...affinity, nodeAffinity }
}

function termsOf({ affinity }: Pick<PodSpec, 'affinity'>): readonly NodeSelectorTerm[] {
  const { nodeAffinity } = affinity ?? {}
  return nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
}

function contradictionOf(
  spec: PodSpec,
  nodeSelector: Readonly<Record<string, string>>,
  requirements: readonly NodeSelectorRequirement[],
): string | undefined {
  const own = spec.nodeSelector ?? {}
  for (const [key, value] of Object.entries(nodeSelector)) {
    const asked = own[key]
    if (asked !== undefined && asked !== value) {
      return `nodeSelector of the template asks for ${key}=${asked}, the group for ${key}=${value}`
    }
  }
  const unmet = requirements.find(
    (each) => own[each.key] !== undefined && !meetsRequirement(each, own[each.key]),
  )
  if (unmet) {
    return `nodeSelector of the template asks for ${unmet.key}=${own[unmet.key]}, which the group excludes`
  }
  const labels = { ...nodeSelector, ...onlyValues(requirements) }
  const terms = termsOf(spec)
  const excluded = Object.entries(labels).find(
    ([key, value]) => terms.length > 0 && terms.every((term) => excludes(term, key, value)),
  )
  if (!excluded) return undefined
  return `nodeAffinity of the template excludes all nodes with ${excluded.join('=')}`
}

/** Returns the labels for which the requirements allow one value only. */
function onlyValues(requirements: readonly NodeSelectorRequirement[]): Record<string, string> {
  const single = requirements.flatMap(({ key, operator, values = [] }) =>
    operator === 'In' && values.length === 1 ? [[key, values[0] ?? ''] as const] : [],
  )
  return Object.fromEntries(single)
}

function excludes(
  { matchExpressions = [] }: NodeSelectorTerm,
  key: string,
  value: string,
): boolean {
  return matchExpressions.some((each) => each.key === key && !meetsRequirement(each, value))
}
