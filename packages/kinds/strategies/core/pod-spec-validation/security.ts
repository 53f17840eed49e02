import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type AppArmorProfile,
  type PodSecurityContext,
  type PodSpec,
  type SeccompProfile,
  type SecurityContext,
} from '@skerry/api'
import { checkId, checkOneOf, checkRelativePath, isLongerThan, type Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import { kindsBounds } from '../../../limits-table.ts'

export function checkSecurityContext(
  context: Loose<SecurityContext> | undefined,
  hostUsers: boolean,
  path: string,
  found: Found,
): void {
  if (!context) return
  checkId(context.runAsUser, `${path}.runAsUser`, found)
  checkId(context.runAsGroup, `${path}.runAsGroup`, found)
  if (context.procMount !== undefined) {
    checkOneOf(context.procMount, ['Default', 'Unmasked'], `${path}.procMount`, found)
    if (hostUsers && context.procMount === 'Unmasked') {
      const detail = '`hostUsers` must be false to use `Unmasked`'
      found.push(fieldInvalid(`${path}.procMount`, context.procMount, detail))
    }
  }
  checkSeccomp(context.seccompProfile, `${path}.seccompProfile`, found)
  if (context.allowPrivilegeEscalation === false) checkNoEscalation(context, path, found)
  checkAppArmor(context.appArmorProfile, `${path}.appArmorProfile`, found)
}

function checkNoEscalation(context: Loose<SecurityContext>, path: string, found: Found): void {
  const detail = 'cannot set `allowPrivilegeEscalation` to false and'
  if (context.privileged) {
    found.push(fieldInvalid(path, inGoNames(context), `${detail} \`privileged\` to true`))
  }
  if ((context.capabilities?.add ?? []).includes('CAP_SYS_ADMIN')) {
    found.push(
      fieldInvalid(path, inGoNames(context), `${detail} \`capabilities.Add\` CAP_SYS_ADMIN`),
    )
  }
}

/** Upstream prints this value with its internal field names, and all of them. */
function inGoNames(context: Loose<SecurityContext>): object {
  const { capabilities } = context
  return {
    Capabilities: capabilities
      ? { Add: capabilities.add ?? null, Drop: capabilities.drop ?? null }
      : null,
    Privileged: context.privileged ?? null,
    SELinuxOptions: context.seLinuxOptions ?? null,
    WindowsOptions: context.windowsOptions ?? null,
    RunAsUser: context.runAsUser ?? null,
    RunAsGroup: context.runAsGroup ?? null,
    RunAsNonRoot: context.runAsNonRoot ?? null,
    ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
    AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
    ProcMount: context.procMount ?? null,
    SeccompProfile: context.seccompProfile ?? null,
    AppArmorProfile: context.appArmorProfile ?? null,
  }
}

export function checkPodSecurityContext(spec: Loose<PodSpec>, path: string, found: Found): void {
  const context = spec.securityContext
  if (!context) return
  checkId(context.fsGroup, `${path}.fsGroup`, found)
  checkId(context.runAsUser, `${path}.runAsUser`, found)
  checkId(context.runAsGroup, `${path}.runAsGroup`, found)
  for (const [at, group] of (context.supplementalGroups ?? []).entries()) {
    checkId(group, `${path}.supplementalGroups[${at}]`, found)
  }
  if (spec.hostPID && spec.shareProcessNamespace) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled'
    found.push(fieldInvalid(`${path}.shareProcessNamespace`, true, detail))
  }
  checkSysctls(context, spec, `${path}.sysctls`, found)
  const changes = ['Always', 'OnRootMismatch']
  checkOneOf(context.fsGroupChangePolicy, changes, `${path}.fsGroupChangePolicy`, found)
  checkSeccomp(context.seccompProfile, `${path}.seccompProfile`, found)
  checkAppArmor(context.appArmorProfile, `${path}.appArmorProfile`, found)
  const groups = ['Merge', 'Strict']
  checkOneOf(context.supplementalGroupsPolicy, groups, `${path}.supplementalGroupsPolicy`, found)
  // MountOption is behind a gate that is off (SELinuxMount).
  const seLinux = ['Recursive']
  checkOneOf(context.seLinuxChangePolicy, seLinux, `${path}.seLinuxChangePolicy`, found)
}

const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlFormat = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`
const sysctlPattern = new RegExp(sysctlFormat)
const { sysctlBytesMax, profileBytesMax } = kindsBounds.security

function checkSysctls(
  context: Loose<PodSecurityContext>,
  spec: Loose<PodSpec>,
  field: string,
  found: Found,
): void {
  const seen = new Set<string>()
  for (const [at, { name = '' }] of (context.sysctls ?? []).entries()) {
    const path = `${field}[${at}].name`
    if (!name) {
      found.push(fieldRequired(path))
    } else if (name.length > sysctlBytesMax || !sysctlPattern.test(name)) {
      const detail = `must have at most ${sysctlBytesMax} characters and match regex ${sysctlFormat}`
      found.push(fieldInvalid(path, name, detail))
    } else if (seen.has(name)) {
      found.push(fieldDuplicate(path, name))
    }
    const dotted = name.replaceAll('/', '.')
    if (spec.hostNetwork && dotted.startsWith('net.')) {
      found.push(fieldInvalid(path, name, "may not be specified when 'hostNetwork' is true"))
    } else if (spec.hostIPC && /^(kernel\.(sem|shm|msg)|fs\.mqueue\.)/.test(dotted)) {
      found.push(fieldInvalid(path, name, "may not be specified when 'hostIPC' is true"))
    }
    seen.add(name)
  }
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']

function checkSeccomp(
  profile: Loose<SeccompProfile> | undefined,
  path: string,
  found: Found,
): void {
  if (!profile) return
  const { type = '', localhostProfile } = profile
  if (!type) {
    found.push(fieldRequired(`${path}.type`, 'type is required when seccompProfile is set'))
  } else if (!profileTypes.includes(type)) {
    found.push(fieldNotSupported(`${path}.type`, type, profileTypes))
  }
  const field = `${path}.localhostProfile`
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return
    const value = { Type: type, LocalhostProfile: localhostProfile }
    found.push(fieldInvalid(field, value, 'can only be set when seccomp type is Localhost'))
  } else if (localhostProfile === undefined) {
    found.push(fieldRequired(field, 'must be set when seccomp type is Localhost'))
  } else {
    checkRelativePath(localhostProfile, field, found)
  }
}

function checkAppArmor(
  profile: Loose<AppArmorProfile> | undefined,
  path: string,
  found: Found,
): void {
  if (!profile) return
  const { type = '', localhostProfile } = profile
  if (type === 'Localhost') {
    checkLocalAppArmor(localhostProfile, `${path}.localhostProfile`, found)
  } else if (!type) {
    found.push(fieldRequired(`${path}.type`, 'type is required when appArmorProfile is set'))
  } else if (!profileTypes.includes(type)) {
    found.push(fieldNotSupported(`${path}.type`, type, profileTypes))
  } else if (localhostProfile !== undefined) {
    const detail = 'can only be set when AppArmor type is Localhost'
    found.push(fieldInvalid(`${path}.localhostProfile`, localhostProfile, detail))
  }
}

function checkLocalAppArmor(name: string | undefined, field: string, found: Found): void {
  if (!name?.trim()) {
    if (name) found.push(fieldInvalid(field, name, 'must not be padded with whitespace'))
    else found.push(fieldRequired(field, 'must be set when AppArmor type is Localhost'))
    return
  }
  if (name.trim() !== name) {
    found.push(fieldInvalid(field, name, 'must not be padded with whitespace'))
  }
  if (isLongerThan(name, profileBytesMax)) found.push(fieldTooLong(field, profileBytesMax))
}
