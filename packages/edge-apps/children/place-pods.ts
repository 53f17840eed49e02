import {
  cloneJson,
  meetsRequirement,
  type NodeSelectorTerm,
  type PodSpec,
  type PodTemplateSpec,
} from '@skerry/api'

/** The template for one group, or the reason why no node of the group can run its pods. */
export type PlacedTemplate =
  | { readonly template: PodTemplateSpec; readonly contradiction?: undefined }
  | { readonly template?: undefined; readonly contradiction: string }

/**
 * Adds the group's labels to the template's own node selector. A template that asks for other nodes is a contradiction:
 * its pods would be pending for ever, and nobody would know why.
 */
export function placePods(
  template: PodTemplateSpec,
  nodeSelector: Readonly<Record<string, string>>,
): PlacedTemplate {
  const placed = cloneJson(template)
  const spec: PodSpec = placed.spec ?? { containers: [] }
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = spec.nodeSelector?.[key]
    if (own !== undefined && own !== value) {
      return {
        contradiction: `nodeSelector of the template asks for ${key}=${own}, the group for ${key}=${value}`,
      }
    }
    const terms =
      spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
        ?.nodeSelectorTerms ?? []
    if (terms.length > 0 && terms.every((term) => excludes(term, key, value))) {
      return {
        contradiction: `nodeAffinity of the template excludes all nodes with ${key}=${value}`,
      }
    }
  }
  return {
    template: {
      ...placed,
      spec: { ...spec, nodeSelector: { ...spec.nodeSelector, ...nodeSelector } },
    },
  }
}

function excludes(
  { matchExpressions = [] }: NodeSelectorTerm,
  key: string,
  value: string,
): boolean {
  return matchExpressions.some((each) => each.key === key && !meetsRequirement(each, value))
}
