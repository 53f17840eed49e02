import {
  addedCapabilities,
  appArmor,
  hostNamespaces,
  hostPaths,
  hostPorts,
  hostProcess,
  privileged,
  probeHosts,
  procMounts,
  seccompNotes,
  seccompUnconfined,
  seLinux,
  sysctls,
  unlessUserNamespace,
} from './baseline-checks.ts'
import type { FindViolation, PodUnderCheck, Violation } from './pod-under-check.ts'
import {
  mayRunAsRoot,
  privilegeEscalation,
  runsAsRoot,
  seccompUnset,
  undroppedCapabilities,
  unlessWindows,
  volumeTypes,
} from './restricted-checks.ts'

export type PodSecurityLevel = 'privileged' | 'baseline' | 'restricted'

/** The minor number of a version 1.x of the standards; Infinity is the latest. */
export type MinorVersion = number

interface PodSecurityCheck {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** The baseline check that this restricted check includes entirely. */
  readonly replaces?: string
  /** The checks with the first minor version that each applies to, ascending. */
  readonly since: readonly (readonly [MinorVersion, FindViolation])[]
}

const sysctlsOf0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const sysctlsOf27 = [...sysctlsOf0, 'net.ipv4.ip_local_reserved_ports']
const sysctlsOf29 = [
  ...sysctlsOf27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const sysctlsOf32 = [...sysctlsOf29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

const seLinuxTypesOf0 = ['container_t', 'container_init_t', 'container_kvm_t']
const seLinuxTypesOf31 = [...seLinuxTypesOf0, 'container_engine_t']

/** Ordered as upstream reports them: baseline checks come first. */
const checks: readonly PodSecurityCheck[] = [
  { id: 'appArmorProfile', level: 'baseline', since: [[0, appArmor]] },
  { id: 'capabilities_baseline', level: 'baseline', since: [[0, addedCapabilities]] },
  { id: 'hostNamespaces', level: 'baseline', since: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', level: 'baseline', since: [[0, hostPaths]] },
  { id: 'hostPorts', level: 'baseline', since: [[0, hostPorts]] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', since: [[34, probeHosts]] },
  { id: 'privileged', level: 'baseline', since: [[0, privileged]] },
  {
    id: 'procMount',
    level: 'baseline',
    since: [
      [0, procMounts],
      [35, unlessUserNamespace(procMounts)],
    ],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    since: [
      [0, seLinux(seLinuxTypesOf0)],
      [31, seLinux(seLinuxTypesOf31)],
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    since: [
      [0, seccompNotes],
      [19, seccompUnconfined],
    ],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    since: [
      [0, sysctls(sysctlsOf0)],
      [27, sysctls(sysctlsOf27)],
      [29, sysctls(sysctlsOf29)],
      [32, sysctls(sysctlsOf32)],
    ],
  },
  { id: 'windowsHostProcess', level: 'baseline', since: [[0, hostProcess]] },
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    since: [
      [8, privilegeEscalation],
      [25, unlessWindows(privilegeEscalation)],
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    replaces: 'capabilities_baseline',
    since: [
      [22, undroppedCapabilities],
      [25, unlessWindows(undroppedCapabilities)],
    ],
  },
  {
    id: 'procMount_restricted',
    level: 'restricted',
    replaces: 'procMount',
    since: [[35, procMounts]],
  },
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    replaces: 'hostPathVolumes',
    since: [[0, volumeTypes]],
  },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    since: [
      [0, mayRunAsRoot],
      [35, unlessUserNamespace(mayRunAsRoot)],
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    since: [
      [23, runsAsRoot],
      [35, unlessUserNamespace(runsAsRoot)],
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    replaces: 'seccompProfile_baseline',
    since: [
      [19, seccompUnset],
      [25, unlessWindows(seccompUnset)],
    ],
  },
]

/** Lists what this level forbids in the pod, by the rules of this version. */
export function findViolations(
  { level, minor }: { readonly level: PodSecurityLevel; readonly minor: MinorVersion },
  pod: PodUnderCheck,
): Violation[] {
  if (level === 'privileged') return []
  const isRestricted = level === 'restricted'
  const active = checks.flatMap((check) => {
    const find = check.since.findLast(([first]) => first <= minor)?.[1]
    return find && (isRestricted || check.level === 'baseline') ? [{ ...check, find }] : []
  })
  const replaced = new Set(active.map((check) => check.replaces))
  return active.filter(({ id }) => !replaced.has(id)).flatMap(({ find }) => find(pod) ?? [])
}
