import { toleratesTaint, type Taint, type Toleration } from '@skerry/api'

/** Matches as for pods and nodes, except that Karmada lacks the comparing operators. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { operator = '' } = toleration
  return ['', 'Equal', 'Exists'].includes(operator) && toleratesTaint(toleration, taint)
}
