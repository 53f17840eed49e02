import { fieldDuplicate, fieldForbidden, type StatusCause } from '@skerry/api'
import { objectsAt } from '@skerry/fleet-kinds'
import type { KindRules } from '../rules/kind-rules.ts'

export function clusterTaintPolicyRules(allowsNoExecute: boolean): KindRules {
  return {
    validate(policy) {
      const taints = objectsAt(policy, 'spec', 'taints')
      return taints.flatMap((taint, at) => {
        const { key, effect } = taint
        const field = `spec.taints[${at}]`
        const causes: StatusCause[] = []
        if (effect === 'NoExecute' && !allowsNoExecute) {
          const why =
            'Configuring taint with NoExecute effect is not allowed, this capability must be explicitly enabled by administrators through command-line flags'
          causes.push(fieldForbidden(field, why))
        }
        if (
          taints.slice(at + 1).some((other) => other['key'] === key && other['effect'] === effect)
        ) {
          const what = `Duplicate taint with the same key(${String(key)}) and effect(${String(effect)}) is not allowed`
          causes.push(fieldDuplicate(field, what))
        }
        return causes
      })
    },
  }
}
