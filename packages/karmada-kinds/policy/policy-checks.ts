import {
  checkQualifiedName,
  fieldInvalid,
  isJsonObject,
  type AnyObject,
  type StatusCause,
} from '@skerry/api'
import { fieldAt } from '@skerry/fleet-kinds'
import type { ClusterAffinity, ResourceSelector } from './propagation-policy.ts'

/** A policy of a namespace speaks of that namespace, also where it does not say so. */
export function setOwnNamespace(policy: AnyObject): void {
  const { namespace } = policy.metadata
  const selectors = fieldAt(policy, 'spec', 'resourceSelectors')
  if (!namespace || !Array.isArray(selectors)) return
  for (const selector of selectors.filter(isJsonObject)) selector['namespace'] ||= namespace
}

export function selectorCauses(
  selectors: readonly ResourceSelector[],
  policyNamespace: string,
): StatusCause[] {
  if (policyNamespace === '') return []
  const why = 'namespace of resource selector must be the same as the namespace of the policy'
  return selectors.flatMap(({ namespace = '' }, at) =>
    namespace === policyNamespace
      ? []
      : [fieldInvalid(`spec.resourceSelectors[${at}].namespace`, namespace, why)],
  )
}

const fieldKeys = ['provider', 'region', 'zone']

/** Returns only the first mistake. */
export function affinityCauses(
  affinity: ClusterAffinity | undefined,
  field: string,
): StatusCause[] {
  const selector = affinity?.fieldSelector
  for (const { key, operator } of selector?.matchExpressions ?? []) {
    const why = fieldKeys.includes(key)
      ? operator === 'In' || operator === 'NotIn'
        ? undefined
        : `unsupported operator ${JSON.stringify(operator)}, must be In or NotIn`
      : `unsupported key ${JSON.stringify(key)}, must be provider, region, or zone`
    if (why !== undefined) return [fieldInvalid(`${field}.fieldSelector`, selector, why)]
  }
  return []
}

export function labelKeyCauses(field: string, key: string): StatusCause[] {
  return checkQualifiedName(key).map((why) => fieldInvalid(field, key, why))
}
