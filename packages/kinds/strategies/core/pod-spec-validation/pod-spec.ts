import {
  checkDnsSubdomain,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type Container,
  type PodResourceClaim,
  type PodSpec,
} from '@skerry/api'
import {
  addInvalid,
  checkLabelField,
  checkNotEmpty,
  checkOneOf,
  checkQualifiedField,
  checkRange,
  checkRequiredOneOf,
  checkSubdomainField,
  int32Max,
  type Found,
} from '../../checks.ts'
import { checkIp } from '../../ip-text.ts'
import { checkLabels } from '../../label-checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import { checkAffinity, checkSpreadConstraints } from './affinity.ts'
import { checkContainers, checkEphemeralContainers, checkInitContainers } from './containers.ts'
import { checkDnsConfig } from './dns-config.ts'
import { checkPodResources } from './pod-resources.ts'
import { checkRequirements } from './resources.ts'
import { checkPodSecurityContext } from './security.ts'
import { checkTolerations } from './tolerations.ts'
import { checkVolumes } from './volumes.ts'

/** The pod's name; omitted for a template. */
export interface PodIdentity {
  readonly name: string | undefined
}

export function checkPodSpec(
  spec: Loose<PodSpec>,
  pod: PodIdentity | undefined,
  path: string,
  found: Found,
): void {
  const claimNames = new Set((spec.resourceClaims ?? []).flatMap(({ name }) => name || []))
  checkWorkloads(spec, { pod, claimNames }, path, found)
  checkPodResources(spec, claimNames, `${path}.resources`, found)
  checkHostNetworkPorts(spec, pod !== undefined, path, found)
  const restarts = ['Always', 'OnFailure', 'Never']
  checkRequiredOneOf(spec.restartPolicy, restarts, `${path}.restartPolicy`, found)
  const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
  checkRequiredOneOf(spec.dnsPolicy, dnsPolicies, `${path}.dnsPolicy`, found)
  checkLabels(spec.nodeSelector, `${path}.nodeSelector`, found)
  checkPodSecurityContext(spec, `${path}.securityContext`, found)
  if (spec.affinity) checkAffinity(spec.affinity, `${path}.affinity`, found)
  checkDnsConfig(spec, `${path}.dnsConfig`, found)
  checkGates(spec, path, found)
  const constraints = spec.topologySpreadConstraints ?? []
  checkSpreadConstraints(constraints, `${path}.topologySpreadConstraints`, found)
  checkHostUsers(spec, path, found)
  checkHostnameOverride(spec, `${path}.hostnameOverride`, found)
  checkNames(spec, path, found)
  checkOs(spec, path, found)
  checkFileKeyVolumes(spec, path, found)
}

function checkWorkloads(
  spec: Loose<PodSpec>,
  { pod, claimNames }: { pod: PodIdentity | undefined; claimNames: ReadonlySet<string> },
  path: string,
  found: Found,
): void {
  if (spec.terminationGracePeriodSeconds === undefined) {
    found.push(fieldRequired(`${path}.terminationGracePeriodSeconds`))
  }
  const facts = {
    volumes: checkVolumes(spec.volumes ?? [], pod?.name, `${path}.volumes`, found),
    claimNames,
    restartPolicy: spec.restartPolicy ?? '',
    gracePeriod: spec.terminationGracePeriodSeconds,
    hostUsers: spec.hostUsers !== false,
  }
  checkResourceClaims(spec.resourceClaims ?? [], `${path}.resourceClaims`, found)
  checkContainers(spec.containers ?? [], facts, `${path}.containers`, found)
  checkInitContainers(spec, facts, `${path}.initContainers`, found)
  checkEphemeralContainers(spec, facts, `${path}.ephemeralContainers`, found)
}

function checkResourceClaims(
  claims: readonly Loose<PodResourceClaim>[],
  field: string,
  found: Found,
): void {
  const names = new Set<string>()
  for (const [at, claim] of claims.entries()) {
    const path = `${field}[${at}]`
    const { name = '', resourceClaimName, resourceClaimTemplateName } = claim
    if (!name) found.push(fieldRequired(`${path}.name`))
    else if (names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    else checkLabelField(name, `${path}.name`, found)
    names.add(name)
    const shown = {
      Name: name,
      ResourceClaimName: resourceClaimName ?? null,
      ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
    }
    const count =
      Number(resourceClaimName !== undefined) + Number(resourceClaimTemplateName !== undefined)
    if (count === 2) {
      const detail =
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      found.push(fieldInvalid(path, shown, detail))
    }
    if (count === 0) {
      const detail = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
      found.push(fieldInvalid(path, shown, detail))
    }
    for (const key of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
      const value = claim[key]
      if (value !== undefined) addInvalid(found, `${path}.${key}`, value, checkDnsSubdomain(value))
    }
  }
}

function checkHostNetworkPorts(
  spec: Loose<PodSpec>,
  isPod: boolean,
  path: string,
  found: Found,
): void {
  if (!spec.hostNetwork) return
  for (const [at, container] of (spec.containers ?? []).entries()) {
    for (const [index, port] of (container.ports ?? []).entries()) {
      const { hostPort = 0, containerPort = 0 } = port
      if ((!isPod && hostPort === 0) || hostPort === containerPort) continue
      const field = `${path}.containers[${at}].ports[${index}].hostPort`
      const detail = 'must match `containerPort` when `hostNetwork` is true'
      found.push(fieldInvalid(field, hostPort, detail))
    }
  }
}

function checkGates(spec: Loose<PodSpec>, path: string, found: Found): void {
  for (const [at, { conditionType = '' }] of (spec.readinessGates ?? []).entries()) {
    checkQualifiedField(conditionType, `${path}.readinessGates[${at}].conditionType`, found)
  }
  const seen = new Set<string>()
  for (const [at, { name = '' }] of (spec.schedulingGates ?? []).entries()) {
    const field = `${path}.schedulingGates[${at}]`
    checkQualifiedField(name, field, found)
    if (seen.has(name)) found.push(fieldDuplicate(field, name))
    seen.add(name)
  }
}

function checkHostUsers(spec: Loose<PodSpec>, path: string, found: Found): void {
  if (spec.hostUsers !== false) return
  const detail = 'when `hostUsers` is false'
  if (spec.hostNetwork) found.push(fieldForbidden(`${path}.hostNetwork`, detail))
  if (spec.hostPID) found.push(fieldForbidden(`${path}.HostPID`, detail))
  if (spec.hostIPC) found.push(fieldForbidden(`${path}.HostIPC`, detail))
  for (const { container, field } of allContainers(spec, path)) {
    if ((container.volumeDevices ?? []).length === 0) continue
    found.push(fieldForbidden(`${field}.volumeDevices`, detail))
  }
}

function checkHostnameOverride(spec: Loose<PodSpec>, field: string, found: Found): void {
  const { hostnameOverride: name } = spec
  if (name === undefined) return
  if (spec.setHostnameAsFQDN) {
    found.push(fieldForbidden(field, 'may not be specified when setHostnameAsFQDN is true'))
  }
  if (spec.hostNetwork) {
    found.push(fieldForbidden(field, 'may not be specified when hostNetwork is true'))
  }
  if (name.length > 64) found.push(fieldTooLong(field, 64))
  checkSubdomainField(name, field, found)
}

function checkNames(spec: Loose<PodSpec>, path: string, found: Found): void {
  checkSubdomain(spec.serviceAccountName, `${path}.serviceAccountName`, found)
  checkSubdomain(spec.nodeName, `${path}.nodeName`, found)
  if (spec.activeDeadlineSeconds !== undefined) {
    const range = { min: 1, max: int32Max }
    checkRange(spec.activeDeadlineSeconds, range, `${path}.activeDeadlineSeconds`, found)
  }
  if (spec.hostname) checkLabelField(spec.hostname, `${path}.hostname`, found)
  if (spec.subdomain) checkLabelField(spec.subdomain, `${path}.subdomain`, found)
  checkTolerations(spec.tolerations ?? [], `${path}.tolerations`, found)
  for (const [at, { ip = '', hostnames = [] }] of (spec.hostAliases ?? []).entries()) {
    const field = `${path}.hostAliases[${at}]`
    checkIp(ip, `${field}.ip`, found)
    for (const [index, name] of hostnames.entries()) {
      checkSubdomainField(name, `${field}.hostnames[${index}]`, found)
    }
  }
  checkSubdomain(spec.priorityClassName, `${path}.priorityClassName`, found)
  if (spec.runtimeClassName !== undefined) {
    checkSubdomainField(spec.runtimeClassName, `${path}.runtimeClassName`, found)
  }
  const preemption = ['PreemptLowerPriority', 'Never']
  checkOneOf(spec.preemptionPolicy, preemption, `${path}.preemptionPolicy`, found)
  if (spec.overhead) {
    checkRequirements({ limits: spec.overhead }, new Set(), `${path}.overhead`, found)
  }
}

function checkSubdomain(name: string | undefined, field: string, found: Found): void {
  if (name) checkSubdomainField(name, field, found)
}

function checkOs(spec: Loose<PodSpec>, path: string, found: Found): void {
  if (!spec.os) return
  const { name = '' } = spec.os
  if (!checkNotEmpty(name, `${path}.os.name`, found)) return
  if (name !== 'linux' && name !== 'windows') {
    found.push(fieldNotSupported(`${path}.os`, name, ['linux', 'windows']))
    return
  }
  if (name === 'windows') return
  const detail = 'windows options cannot be set for a linux pod'
  if (spec.securityContext?.windowsOptions) {
    found.push(fieldForbidden(`${path}.securityContext.windowsOptions`, detail))
  }
  for (const { container, field } of allContainers(spec, path)) {
    if (!container.securityContext?.windowsOptions) continue
    found.push(fieldForbidden(`${field}.securityContext.windowsOptions`, detail))
  }
}

/** Variables read from a file name an emptyDir into which an init container writes it. */
function checkFileKeyVolumes(spec: Loose<PodSpec>, path: string, found: Found): void {
  for (const { container, field } of allContainers(spec, path)) {
    for (const [at, variable] of (container.env ?? []).entries()) {
      const reference = variable.valueFrom?.fileKeyRef
      if (!reference) continue
      const name = reference.volumeName ?? ''
      const nameField = `${field}.env[${at}].valueFrom.fileKeyRef.volumeName`
      const volume = spec.volumes?.find((candidate) => candidate.name === name)
      if (!volume) {
        found.push(fieldNotFound(nameField, name))
      } else if (!volume.emptyDir) {
        const detail = 'referenced volume must be of type emptyDir'
        found.push(fieldInvalid(nameField, name, detail))
      }
    }
  }
}

/** Returns every container with its path, in upstream's order. */
function allContainers(
  spec: Loose<PodSpec>,
  path: string,
): { container: Loose<Container>; field: string }[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, at) => ({ container, field: `${path}.${list}[${at}]` })),
  )
}
