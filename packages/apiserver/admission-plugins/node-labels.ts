import { isReservedNodeLabel } from '@skerry/api'

/**
 * Returns the changed labels that a node may not set itself, sorted: they would attract other
 * users' pods.
 */
export function forbiddenNodeLabels(
  next: Readonly<Record<string, string>>,
  old: Readonly<Record<string, string>>,
): string[] {
  const keys = new Set([...Object.keys(next), ...Object.keys(old)])
  return [...keys].filter((key) => next[key] !== old[key] && isReservedNodeLabel(key)).sort()
}
