import type { NetworkPolicy, NetworkPolicyPeer } from '@skerry/api'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { validateNetworkPolicy } from './network-policy-validation.ts'
import { warningsOfCidr } from '../ip-warnings.ts'

export const networkPolicyStrategy = strategyOf<NetworkPolicy>({
  warnings({ spec = {} }) {
    const { egress = [], ingress = [] } = spec
    return [
      ...ingress.flatMap(({ from }, at) => warningsOfPeers(from, `spec.ingress[${at}].from`)),
      ...egress.flatMap(({ to }, at) => warningsOfPeers(to, `spec.egress[${at}].to`)),
    ]
  },
  validate: validateNetworkPolicy,
  validateUpdate: validateNetworkPolicy,
  hasGeneration: true,
  countsSentEmpty: true,
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

function warningsOfPeers(peers: readonly Loose<NetworkPolicyPeer>[] = [], field: string): string[] {
  return peers.flatMap(({ ipBlock }, at) => {
    if (!ipBlock) return []
    const path = `${field}[${at}].ipBlock`
    return [
      ...warningsOfCidr(ipBlock.cidr ?? '', `${path}.cidr`),
      ...(ipBlock.except ?? []).flatMap((cidr, index) =>
        warningsOfCidr(cidr, `${path}.except[${index}]`),
      ),
    ]
  })
}
