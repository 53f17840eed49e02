import type { AnyObject } from '@skerry/api'
import { fieldAt, objectsAt, textAt } from '@skerry/fleet-kinds'
import type { KnownKind, KnownKinds } from './known-kind.ts'

const policy: KnownKind = Object.freeze({ health: isReady })

/** Checks `ready` of older versions, or the condition of newer ones. */
function isReady(object: AnyObject): boolean {
  const ready = fieldAt(object, 'status', 'ready')
  if (typeof ready === 'boolean') return ready
  return objectsAt(object, 'status', 'conditions').some(
    (condition) =>
      textAt(condition, 'type') === 'Ready' &&
      textAt(condition, 'status') === 'True' &&
      textAt(condition, 'reason') === 'Succeeded',
  )
}

/** Kyverno's policies (kyverno.io). */
export const kyvernoKinds: KnownKinds = Object.freeze({
  'kyverno.io/v1 Policy': policy,
  'kyverno.io/v1 ClusterPolicy': policy,
})
