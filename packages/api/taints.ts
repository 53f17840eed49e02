import type { Taint, Toleration } from './generated/types.ts'

/**
 * Checks a core/v1 Toleration: an empty key with Exists tolerates everything, an empty effect every
 * effect.
 */
export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  if (toleration.key && toleration.key !== taint.key) return false
  if (toleration.operator === 'Exists') return true
  return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '')
}
