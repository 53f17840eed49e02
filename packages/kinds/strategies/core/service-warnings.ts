import type { Service } from '@skerry/api'
import { warningsOfCidr, warningsOfIp } from '../ip-warnings.ts'
import type { LooseObject } from '../typed-strategy.ts'

const oldHints = 'service.kubernetes.io/topology-aware-hints'
const topologyMode = 'service.kubernetes.io/topology-mode'

export function warningsOfService({ metadata, spec = {} }: LooseObject<Service>): string[] {
  const { clusterIP, externalIPs = [], loadBalancerIP, type } = spec
  const isExternalName = type === 'ExternalName'
  const isHeadless = type === 'ClusterIP' && clusterIP === 'None'
  const hasOwnIps = !isExternalName && clusterIP !== '' && clusterIP !== 'None'
  const hasExternalIps = externalIPs.length > 0
  const texts: readonly [boolean, string][] = [
    [isHeadless && Boolean(loadBalancerIP), ignored('loadBalancerIP')],
    [isHeadless && hasExternalIps, ignored('externalIPs')],
    [isHeadless && spec.sessionAffinity !== 'None', ignored('SessionAffinity')],
  ]
  const laterTexts: readonly [boolean, string][] = [
    [
      hasExternalIps && !isHeadless && !isExternalName,
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
  ]
  const lastTexts: readonly [boolean, string][] = [
    [
      hasExternalIps && isExternalName,
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ],
    [
      Boolean(spec.externalName) && !isExternalName,
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
    [
      spec.trafficDistribution === 'PreferClose',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ]
  const hasHints = oldHints in (metadata.annotations ?? {})
  return [
    ...(hasHints
      ? [`annotation ${oldHints} is deprecated, please use ${topologyMode} instead`]
      : []),
    ...(hasOwnIps ? warningsOfIps(spec.clusterIPs, 'spec.clusterIPs') : []),
    ...applying(texts),
    ...warningsOfIps(externalIPs, 'spec.externalIPs'),
    ...applying(laterTexts),
    ...(loadBalancerIP ? warningsOfIp(loadBalancerIP, 'spec.loadBalancerIP') : []),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((cidr, at) =>
      warningsOfCidr(cidr, `spec.loadBalancerSourceRanges[${at}]`),
    ),
    ...applying(lastTexts),
  ]
}

function ignored(field: string): string {
  return `spec.${field} is ignored for headless services`
}

function applying(texts: readonly (readonly [boolean, string])[]): string[] {
  return texts.flatMap(([applies, text]) => (applies ? [text] : []))
}

function warningsOfIps(ips: readonly string[] = [], field: string): string[] {
  return ips.flatMap((ip, at) => warningsOfIp(ip, `${field}[${at}]`))
}
