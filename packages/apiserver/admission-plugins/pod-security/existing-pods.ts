import type { Pod } from '@skerry/api'
import { findViolations } from './check-table.ts'
import { levelText, type LevelVersion } from './namespace-policy.ts'
import { apiServerBounds } from '../../limits-table.ts'

const { podsCheckedMax } = apiServerBounds.existingPods

/**
 * Warns of a namespace's pods that could not be created again under the level that it enforces from
 * now on.
 */
export function existingPodsWarnings(
  namespace: string,
  enforced: LevelVersion,
  pods: readonly Pod[],
): string[] {
  const checked = oneOfEachOwnerFirst(pods).slice(0, podsCheckedMax)
  const names = new Map<string, string[]>()
  for (const { metadata, spec } of checked) {
    const pod = { annotations: metadata.annotations ?? {}, spec: spec ?? { containers: [] } }
    const reasons = findViolations(enforced, pod)
      .map(({ reason }) => reason)
      .join(', ')
    if (reasons !== '') names.set(reasons, [...(names.get(reasons) ?? []), metadata.name ?? ''])
  }
  const warnings: string[] = []
  if (checked.length < pods.length) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`,
    )
  }
  if (names.size === 0) return warnings
  const level = JSON.stringify(levelText(enforced))
  warnings.push(
    `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${level}`,
  )
  return [...warnings, ...[...names].map(podsWarning).toSorted()]
}

/** Pods of one owner are alike, so one of each owner is checked before the others. */
function oneOfEachOwnerFirst(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>()
  const [first, further]: [Pod[], Pod[]] = [[], []]
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
    const isFurther = owner !== undefined && seen.has(owner)
    if (owner !== undefined) seen.add(owner)
    ;(isFurther ? further : first).push(pod)
  }
  return [...first, ...further]
}

function podsWarning([reasons, names]: readonly [string, readonly string[]]): string {
  const [first = ''] = names.toSorted()
  const others = names.length - 1
  if (others === 0) return `${first}: ${reasons}`
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'}): ${reasons}`
}
