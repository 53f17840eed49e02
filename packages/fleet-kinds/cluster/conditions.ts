import type { ClusterCondition } from './cluster.ts'

/** Formats a metav1.Time: whole seconds. */
export function apiTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** A condition without its time, which follows from the previous condition. */
export type ConditionText = Omit<ClusterCondition, 'lastTransitionTime'>

/** The list with this condition in it. The time moves only when the status does. */
export function withCondition(
  conditions: readonly ClusterCondition[],
  next: ConditionText,
  nowMs: number,
): ClusterCondition[] {
  const known = conditions.find(({ type }) => type === next.type)
  const isSame = known?.status === next.status
  const lastTransitionTime = isSame ? known.lastTransitionTime : apiTime(nowMs)
  const made = { ...next, lastTransitionTime }
  if (!known) return [...conditions, made]
  return conditions.map((each) => (each.type === next.type ? made : each))
}

export function conditionOf(
  conditions: readonly ClusterCondition[] | undefined,
  type: string,
): ClusterCondition | undefined {
  return conditions?.find((each) => each.type === type)
}
