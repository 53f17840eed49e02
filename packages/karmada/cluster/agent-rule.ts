import type { Attributes } from '@skerry/apiserver'

/** What an agent may do: one rule for all, in which `own` stands for its own cluster. */
export interface AgentRule {
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** Absent: any name, also none. */
  readonly name?: (own: string) => string
  /** Absent: cluster scope. */
  readonly namespace?: (own: string) => string
}

export function isCovered(
  rules: readonly AgentRule[],
  ownName: string,
  { isResourceRequest, resource, subresource, verb, namespace = '', name = '' }: Attributes,
): boolean {
  if (!isResourceRequest || resource === undefined) return false
  const wanted = subresource ? `${resource.resource}/${subresource}` : resource.resource
  return rules.some(
    (rule) =>
      rule.group === resource.group &&
      rule.resources.includes(wanted) &&
      rule.verbs.includes(verb) &&
      (rule.namespace?.(ownName) ?? '') === namespace &&
      (rule.name === undefined || rule.name(ownName) === name),
  )
}
