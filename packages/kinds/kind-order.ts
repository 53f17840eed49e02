import type { Kind } from '@skerry/api'

/**
 * Sorts kinds for discovery: built-in ones in their order, then custom ones by group, by version
 * with the most stable and newest first, and by resource.
 */
export function discoveryOrder(builtin: readonly Kind[], custom: readonly Kind[]): Kind[] {
  const sorted = custom.toSorted(
    (a, b) =>
      compareText(a.group, b.group) ||
      compareVersions(a.version, b.version) ||
      compareText(a.resource, b.resource),
  )
  return [...builtin, ...sorted]
}

/**
 * Orders versions as Kubernetes does: v10 before v2 before v1beta2 before v1alpha1, and other texts
 * last, alphabetically.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)]
  if (left === undefined || right === undefined) {
    if (left === right) return compareText(a, b)
    return left === undefined ? 1 : -1
  }
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor
}

function rankOf(version: string) {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version)
  if (!match) return undefined
  const [, major, word, minor] = match
  const stability = word === undefined ? 2 : word === 'beta' ? 1 : 0
  return { stability, major: Number(major), minor: Number(minor ?? 0) }
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
