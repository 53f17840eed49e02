import type { ClusterDiagnosis } from '@skerry/propagation'

/**
 * Returns whether upstream may report this of clusters of which none fits. It asks its filters in a random
 * order, and counts for each cluster the first reason that it finds.
 */
export function isPossibleMessage(
  message: string,
  diagnosis: readonly ClusterDiagnosis[],
  clusters: number,
): boolean {
  const match = /^0\/(\d+) clusters are available: (.*)\.$/s.exec(message)
  if (match?.[1] !== String(clusters)) return false
  const counts = new Map<string, number>()
  for (const part of (match[2] ?? '').split(', ')) {
    const [, count, reason = ''] = /^(\d+) (.*)$/s.exec(part) ?? []
    if (count === undefined) return diagnosis.length === 0 && part === 'no cluster exists'
    counts.set(reason, Number(count))
  }
  return canGiveOut(diagnosis, counts)
}

/** Returns whether one reason of each cluster can be chosen so that the counts match. */
function canGiveOut([first, ...rest]: readonly ClusterDiagnosis[], counts: Map<string, number>) {
  if (first === undefined) return [...counts.values()].every((count) => count === 0)
  for (const reason of new Set(first.reasons)) {
    const left = counts.get(reason) ?? 0
    if (left === 0) continue
    counts.set(reason, left - 1)
    if (canGiveOut(rest, counts)) return true
    counts.set(reason, left)
  }
  return false
}
