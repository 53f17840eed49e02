import type { Capabilities, Container, PodSpec, SecurityContext } from '@skerry/api'

export type PodSecurityLevel = 'privileged' | 'baseline' | 'restricted'

/** What is wrong, in the words of the Pod Security Standards' admission. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

export interface PodSecurityCheck {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** A stricter check of the restricted level says it all. */
  readonly isReplacedByRestricted?: boolean
  readonly find: (spec: PodSpec) => Violation | undefined
}

type AnyContainer = Pick<Container, 'name' | 'securityContext' | 'ports'>

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])
const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
])
const seLinuxTypes: ReadonlySet<string> = new Set([
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
])
const restrictedVolumes: ReadonlySet<string> = new Set([
  'name',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

/** In the order in which upstream reports them, those of a level together. */
export const podSecurityChecks: readonly PodSecurityCheck[] = [
  { id: 'allowPrivilegeEscalation', level: 'restricted', find: privilegeEscalation },
  { id: 'capabilities', level: 'baseline', isReplacedByRestricted: true, find: addedCapabilities },
  { id: 'capabilities', level: 'restricted', find: undroppedCapabilities },
  { id: 'hostNamespaces', level: 'baseline', find: hostNamespaces },
  { id: 'hostPathVolumes', level: 'baseline', isReplacedByRestricted: true, find: hostPaths },
  { id: 'hostPorts', level: 'baseline', find: hostPorts },
  { id: 'privileged', level: 'baseline', find: privileged },
  { id: 'procMount', level: 'baseline', find: procMounts },
  { id: 'restrictedVolumes', level: 'restricted', find: volumeTypes },
  { id: 'runAsNonRoot', level: 'restricted', find: mayRunAsRoot },
  { id: 'runAsUser', level: 'restricted', find: runsAsRoot },
  { id: 'seLinuxOptions', level: 'baseline', find: seLinux },
  {
    id: 'seccompProfile',
    level: 'baseline',
    isReplacedByRestricted: true,
    find: seccompUnconfined,
  },
  { id: 'seccompProfile', level: 'restricted', find: seccompUnset },
  { id: 'sysctls', level: 'baseline', find: sysctls },
  { id: 'windowsHostProcess', level: 'baseline', find: hostProcess },
]

function containersOf(spec: PodSpec): AnyContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])]
}

function named(
  spec: PodSpec,
  isBad: (context: SecurityContext, container: AnyContainer) => boolean,
): string[] {
  return containersOf(spec)
    .filter((container) => isBad(container.securityContext ?? {}, container))
    .map(({ name }) => name)
}

/** `container "a"`, `containers "a", "b"`. */
function plural(word: string, names: readonly string[]): string {
  const list = names.map((name) => JSON.stringify(name)).join(', ')
  return `${word}${names.length === 1 ? '' : 's'} ${list}`
}

function privilegeEscalation(spec: PodSpec): Violation | undefined {
  const names = named(spec, (context) => context.allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  const detail = `${plural('container', names)} must set securityContext.allowPrivilegeEscalation=false`
  return { reason: 'allowPrivilegeEscalation != false', detail }
}

function addedBeyond(allowed: ReadonlySet<string>, capabilities: Capabilities = {}): string[] {
  return (capabilities.add ?? []).filter((name) => !allowed.has(name))
}

function addedCapabilities(spec: PodSpec): Violation | undefined {
  const names = named(
    spec,
    ({ capabilities }) => addedBeyond(defaultCapabilities, capabilities).length > 0,
  )
  if (names.length === 0) return undefined
  const added = containersOf(spec).flatMap(({ securityContext }) =>
    addedBeyond(defaultCapabilities, securityContext?.capabilities),
  )
  const list = sortedQuotes(added)
  const detail = `${plural('container', names)} must not include ${list} in securityContext.capabilities.add`
  return { reason: 'non-default capabilities', detail }
}

const bindService: ReadonlySet<string> = new Set(['NET_BIND_SERVICE'])

function undroppedCapabilities(spec: PodSpec): Violation | undefined {
  const keeping = named(spec, ({ capabilities }) => !capabilities?.drop?.includes('ALL'))
  const adding = named(
    spec,
    ({ capabilities }) => addedBeyond(bindService, capabilities).length > 0,
  )
  if (keeping.length === 0 && adding.length === 0) return undefined
  const parts = []
  if (keeping.length > 0) {
    parts.push(`${plural('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`)
  }
  if (adding.length > 0) {
    const added = containersOf(spec).flatMap(({ securityContext }) =>
      addedBeyond(bindService, securityContext?.capabilities),
    )
    parts.push(
      `${plural('container', adding)} must not include ${sortedQuotes(added)} in securityContext.capabilities.add`,
    )
  }
  return { reason: 'unrestricted capabilities', detail: parts.join('; ') }
}

function sortedQuotes(texts: readonly string[]): string {
  return [...new Set(texts)]
    .sort()
    .map((text) => JSON.stringify(text))
    .join(', ')
}

function hostNamespaces(spec: PodSpec): Violation | undefined {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field])
  if (used.length === 0) return undefined
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') }
}

function hostPaths(spec: PodSpec): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name)
  if (names.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: plural('volume', names) }
}

function hostPorts(spec: PodSpec): Violation | undefined {
  const names = named(spec, (_context, { ports }) => Boolean(ports?.some((port) => port.hostPort)))
  if (names.length === 0) return undefined
  const ports = containersOf(spec).flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : [])),
  )
  const list = [...new Set(ports)].sort().join(', ')
  const word = ports.length === 1 ? 'hostPort' : 'hostPorts'
  const verb = names.length === 1 ? 'uses' : 'use'
  return { reason: 'hostPort', detail: `${plural('container', names)} ${verb} ${word} ${list}` }
}

function privileged(spec: PodSpec): Violation | undefined {
  const names = named(spec, (context) => context.privileged === true)
  if (names.length === 0) return undefined
  const detail = `${plural('container', names)} must not set securityContext.privileged=true`
  return { reason: 'privileged', detail }
}

function procMounts(spec: PodSpec): Violation | undefined {
  const isBad = ({ procMount = 'Default' }: SecurityContext): boolean => procMount !== 'Default'
  const names = named(spec, isBad)
  if (names.length === 0) return undefined
  const values = containersOf(spec).flatMap(({ securityContext }) =>
    securityContext && isBad(securityContext) ? [securityContext.procMount ?? ''] : [],
  )
  const detail = `${plural('container', names)} must not set securityContext.procMount to ${sortedQuotes(values)}`
  return { reason: 'procMount', detail }
}

function volumeTypes(spec: PodSpec): Violation | undefined {
  const bad = (spec.volumes ?? []).flatMap((volume) => {
    const type = Object.keys(volume).find((key) => !restrictedVolumes.has(key))
    return type === undefined ? [] : [{ name: volume.name, type }]
  })
  if (bad.length === 0) return undefined
  const names = bad.map(({ name }) => name)
  const verb = names.length === 1 ? 'uses' : 'use'
  const types = sortedQuotes(bad.map(({ type }) => type))
  const word = new Set(bad.map(({ type }) => type)).size === 1 ? 'type' : 'types'
  const detail = `${plural('volume', names)} ${verb} restricted volume ${word} ${types}`
  return { reason: 'restricted volume types', detail }
}

function mayRunAsRoot(spec: PodSpec): Violation | undefined {
  const ofPod = spec.securityContext?.runAsNonRoot
  const reason = 'runAsNonRoot != true'
  const explicit = named(spec, (context) => context.runAsNonRoot === false)
  if (ofPod === false || explicit.length > 0) {
    const parts = [
      ...(ofPod === false ? ['pod'] : []),
      ...(explicit.length > 0 ? [plural('container', explicit)] : []),
    ]
    return {
      reason,
      detail: `${parts.join(' and ')} must not set securityContext.runAsNonRoot=false`,
    }
  }
  if (ofPod === true) return undefined
  const unset = named(spec, (context) => context.runAsNonRoot !== true)
  if (unset.length === 0) return undefined
  const detail = `pod or ${plural('container', unset)} must set securityContext.runAsNonRoot=true`
  return { reason, detail }
}

function runsAsRoot(spec: PodSpec): Violation | undefined {
  const names = named(spec, (context) => context.runAsUser === 0)
  const parts = [
    ...(spec.securityContext?.runAsUser === 0 ? ['pod'] : []),
    ...(names.length > 0 ? [plural('container', names)] : []),
  ]
  if (parts.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${parts.join(' and ')} must not set runAsUser=0` }
}

function seLinux(spec: PodSpec): Violation | undefined {
  const isBad = ({ seLinuxOptions: options }: Pick<SecurityContext, 'seLinuxOptions'>): boolean =>
    Boolean(options && (!seLinuxTypes.has(options.type ?? '') || options.user || options.role))
  const names = named(spec, isBad)
  const parts = [
    ...(isBad(spec.securityContext ?? {}) ? ['pod'] : []),
    ...(names.length > 0 ? [plural('container', names)] : []),
  ]
  if (parts.length === 0) return undefined
  return {
    reason: 'seLinuxOptions',
    detail: `${parts.join(' and ')} set forbidden securityContext.seLinuxOptions`,
  }
}

function seccompUnconfined(spec: PodSpec): Violation | undefined {
  const isBad = ({ seccompProfile }: Pick<SecurityContext, 'seccompProfile'>): boolean =>
    seccompProfile?.type === 'Unconfined'
  const names = named(spec, isBad)
  const parts = [
    ...(isBad(spec.securityContext ?? {}) ? ['pod'] : []),
    ...(names.length > 0 ? [plural('container', names)] : []),
  ]
  if (parts.length === 0) return undefined
  const detail = `${parts.join(' and ')} must not set securityContext.seccompProfile.type to "Unconfined"`
  return { reason: 'seccompProfile', detail }
}

function seccompUnset(spec: PodSpec): Violation | undefined {
  const unconfined = seccompUnconfined(spec)
  if (unconfined) return unconfined
  if (spec.securityContext?.seccompProfile) return undefined
  const names = named(spec, (context) => context.seccompProfile === undefined)
  if (names.length === 0) return undefined
  const detail = `pod or ${plural('container', names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason: 'seccompProfile', detail }
}

function sysctls(spec: PodSpec): Violation | undefined {
  const names = (spec.securityContext?.sysctls ?? [])
    .map(({ name }) => name)
    .filter((name) => !safeSysctls.has(name))
  if (names.length === 0) return undefined
  return { reason: 'forbidden sysctls', detail: names.join(', ') }
}

function hostProcess(spec: PodSpec): Violation | undefined {
  const names = named(spec, (context) => context.windowsOptions?.hostProcess === true)
  const parts = [
    ...(spec.securityContext?.windowsOptions?.hostProcess ? ['pod'] : []),
    ...(names.length > 0 ? [plural('container', names)] : []),
  ]
  if (parts.length === 0) return undefined
  const detail = `${parts.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`
  return { reason: 'hostProcess', detail }
}
