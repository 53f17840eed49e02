import type { PolicyRule } from '@skerry/api'
import type { Attributes } from '../contract/access.ts'

/** Returns true if this rule allows the request. */
export function ruleAllows(rule: PolicyRule, asked: Attributes): boolean {
  if (!hasOrAll(rule.verbs, asked.verb)) return false
  if (!asked.isResourceRequest) return nonResourceMatches(rule.nonResourceURLs, asked.path)
  return (
    hasOrAll(rule.apiGroups, asked.resource?.group ?? '') &&
    resourceMatches(rule.resources, asked.resource?.resource ?? '', asked.subresource) &&
    nameMatches(rule.resourceNames, asked.name ?? '')
  )
}

export function hasOrAll(values: readonly string[] | undefined, value: string): boolean {
  return values !== undefined && (values.includes('*') || values.includes(value))
}

function resourceMatches(
  resources: readonly string[] | undefined,
  resource: string,
  subresource = '',
): boolean {
  if (!resources) return false
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  if (resources.includes('*') || resources.includes(combined)) return true
  return subresource !== '' && resources.includes(`*/${subresource}`)
}

/** A rule without names matches every object. A list or create has no name and matches no rule with names. */
function nameMatches(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.length === 0 || names.includes(name)
}

export function nonResourceMatches(urls: readonly string[] | undefined, path: string): boolean {
  return (urls ?? []).some(
    (url) =>
      url === '*' ||
      url === path ||
      (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''))),
  )
}
