import { toleratesTaint, type Taint, type Toleration } from '@skerry/api'

/** As of pods and nodes, but that the operators that compare are not Karmada's. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { operator = '' } = toleration
  return ['', 'Equal', 'Exists'].includes(operator) && toleratesTaint(toleration, taint)
}
