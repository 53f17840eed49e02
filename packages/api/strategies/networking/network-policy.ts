import type { NetworkPolicy } from '../../generated/types.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { validateNetworkPolicy } from './network-policy-validation.ts'

export const networkPolicyStrategy = strategyOf<NetworkPolicy>({
  validate: validateNetworkPolicy,
  validateUpdate: validateNetworkPolicy,
  hasGeneration: true,
  defaults: applyNetworkPolicyDefaults,
})

function applyNetworkPolicyDefaults(policy: LooseObject<NetworkPolicy>): void {
  const spec = (policy.spec ??= {})
  spec.podSelector ??= {}
  if ((spec.policyTypes ?? []).length === 0) {
    const hasEgress = (spec.egress ?? []).length > 0
    spec.policyTypes = hasEgress ? ['Ingress', 'Egress'] : ['Ingress']
  }
  for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of rule.ports ?? []) port.protocol ??= 'TCP'
  }
}
