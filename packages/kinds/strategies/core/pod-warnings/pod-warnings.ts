import { quoteGo, type LocalObjectReference, type PodSpec, type PodTemplateSpec } from '@skerry/api'
import { warningsOfIp } from '../../ip-warnings.ts'
import type { Loose } from '../../typed-strategy.ts'
import { warningsOfByteAmounts } from './byte-warnings.ts'
import { warningsOfAnnotations } from './annotation-warnings.ts'
import { warningsOfContainers } from './container-warnings.ts'
import { warningsOfPorts } from './port-warnings.ts'
import { warningsOfPodTerms, warningsOfPlacement } from './placement-warnings.ts'
import { warningsOfPodVolumes } from './pod-volume-warnings.ts'
import { byteResources, type WarnedPod } from './warned-pod.ts'

/** Warns of settings in a pod that are allowed but hardly intended. */
export function warningsOfPod(pod: WarnedPod): string[] {
  const { spec, path } = pod
  const grace = spec.terminationGracePeriodSeconds ?? 0
  const isNegative = 'must be >= 0; negative values are invalid and will be treated as 1'
  return [
    ...warningsOfPlacement(spec, path),
    ...warningsOfAnnotations(pod),
    ...warningsOfPodVolumes(spec.volumes, `${path}.volumes`),
    ...warningsOfHostAliases(spec, path),
    ...warningsOfPullSecrets(spec.imagePullSecrets, `${path}.imagePullSecrets`),
    ...warningsOfByteAmounts(spec.overhead, byteResources, `${path}.overhead`),
    ...warningsOfContainers(pod),
    ...warningsOfPorts(spec, path),
    ...(grace < 0 ? [`${path}.terminationGracePeriodSeconds: ${isNegative}`] : []),
    ...warningsOfPodTerms(spec, path),
    ...warningsOfAddresses(spec, path),
  ]
}

export function warningsOfTemplate(template: Loose<PodTemplateSpec> = {}, path: string): string[] {
  return warningsOfPod({
    spec: template.spec ?? {},
    metadata: template.metadata ?? {},
    path: `${path}.spec`,
    metadataPath: `${path}.metadata`,
    isTemplate: true,
  })
}

function warningsOfHostAliases({ hostAliases = [] }: Loose<PodSpec>, path: string): string[] {
  const seen = new Set<string>()
  return hostAliases.flatMap(({ ip = '' }, at) => {
    if (seen.has(ip)) return [`${path}.hostAliases[${at}].ip: duplicate ip ${quoteGo(ip)}`]
    seen.add(ip)
    return []
  })
}

function warningsOfPullSecrets(
  secrets: readonly Loose<LocalObjectReference>[] = [],
  field: string,
): string[] {
  const warnings: string[] = []
  const seen = new Set<string>()
  for (const [at, { name = '' }] of secrets.entries()) {
    if (seen.has(name)) warnings.push(`${field}[${at}].name: duplicate name ${quoteGo(name)}`)
    seen.add(name)
  }
  for (const [at, { name = '' }] of secrets.entries()) {
    if (!name) warnings.push(`${field}[${at}].name: invalid empty name ""`)
  }
  return warnings
}

function warningsOfAddresses({ dnsConfig, hostAliases = [] }: Loose<PodSpec>, path: string) {
  const servers = dnsConfig?.nameservers ?? []
  return [
    ...servers.flatMap((ip, at) => warningsOfIp(ip, `${path}.dnsConfig.nameservers[${at}]`)),
    ...hostAliases.flatMap(({ ip = '' }, at) => warningsOfIp(ip, `${path}.hostAliases[${at}].ip`)),
  ]
}
