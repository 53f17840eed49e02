import type { PolicyRule } from '@skerry/api'
import { hasOrAll, nonResourceMatches } from './policy-rules.ts'

/**
 * Returns the rights in `wanted` that `held` does not include, each as the smallest possible rule.
 * If the list is empty, a holder of `held` may grant `wanted`.
 */
export function missingRights(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): PolicyRule[] {
  return wanted
    .flatMap((rule) => breakDown(rule))
    .filter((right) => !held.some((rule) => covers(rule, right)))
}

/** Splits a rule into one per combination of verb, group, resource and name, or of verb and path. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const rights: PolicyRule[] = []
  for (const verb of verbs) {
    for (const url of nonResourceURLs) rights.push({ verbs: [verb], nonResourceURLs: [url] })
    for (const group of apiGroups) {
      for (const resource of resources) {
        const right = { verbs: [verb], apiGroups: [group], resources: [resource] }
        if (resourceNames.length === 0) rights.push(right)
        for (const name of resourceNames) rights.push({ ...right, resourceNames: [name] })
      }
    }
  }
  return rights
}

function covers(held: PolicyRule, right: PolicyRule): boolean {
  const [verb = ''] = right.verbs
  if (!hasOrAll(held.verbs, verb)) return false
  const [url] = right.nonResourceURLs ?? []
  if (url !== undefined) return nonResourceMatches(held.nonResourceURLs, url)
  const [group = ''] = right.apiGroups ?? []
  const [resource = ''] = right.resources ?? []
  const [name] = right.resourceNames ?? []
  return (
    hasOrAll(held.apiGroups, group) &&
    coversResource(held.resources ?? [], resource) &&
    coversName(held.resourceNames ?? [], name)
  )
}

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes('*') || held.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash > 0 && held.includes(`*${resource.slice(slash)}`)
}

function coversName(held: readonly string[], name: string | undefined): boolean {
  return held.length === 0 || (name !== undefined && held.includes(name))
}

/** Merges rights that differ only in their verb, for a readable message. */
export function compactRights(rights: readonly PolicyRule[]): PolicyRule[] {
  const byRest = new Map<string, PolicyRule>()
  for (const { verbs, ...rest } of rights) {
    const key = JSON.stringify(rest)
    byRest.set(key, { ...rest, verbs: [...(byRest.get(key)?.verbs ?? []), ...verbs] })
  }
  return [...byRest.values()]
}

/** Formats a rule as in upstream's refusals. */
export function describeRule(rule: PolicyRule): string {
  const parts = [
    part('APIGroups', rule.apiGroups),
    part('Resources', rule.resources),
    part('NonResourceURLs', rule.nonResourceURLs),
    part('ResourceNames', rule.resourceNames),
    part('Verbs', rule.verbs),
  ]
  return `{${parts.filter((text) => text !== '').join(', ')}}`
}

function part(label: string, values: readonly string[] | undefined): string {
  if (!values || values.length === 0) return ''
  return `${label}:[${values.map((value) => JSON.stringify(value)).join(' ')}]`
}
