import type { Capabilities, LifecycleHandler, PodSpec, SecurityContext } from '@skerry/api'
import {
  containersOf,
  named,
  plural,
  pluralWord,
  setters,
  sortedQuotes,
  type AnyContainer,
  type FindViolation,
  type PodUnderCheck,
  type Violation,
} from './pod-under-check.ts'

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

const armorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const armorTypes: readonly string[] = ['RuntimeDefault', 'Localhost']

export function appArmor({ annotations, spec }: PodUnderCheck): Violation | undefined {
  const typeOf = ({ appArmorProfile }: Pick<SecurityContext, 'appArmorProfile'>): string[] =>
    appArmorProfile && !armorTypes.includes(appArmorProfile.type) ? [appArmorProfile.type] : []
  const ofPod = typeOf(spec.securityContext ?? {})
  const names = named(spec, (context) => typeOf(context).length > 0)
  const types = containersOf(spec).flatMap((container) => typeOf(container.securityContext ?? {}))
  const noted = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(armorPrefix) && !isArmorNote(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
  const by = setters(ofPod.length > 0, names)
  if (noted.length > 0) by.push(pluralWord('annotation', noted.length))
  if (by.length === 0) return undefined
  const values = [...[...new Set([...ofPod, ...types])].sort(), ...noted]
  const list = values.map((value) => `"${value}"`).join(', ')
  return {
    reason: pluralWord('forbidden AppArmor profile', values.length),
    detail: `${by.join(' and ')} must not set AppArmor profile type to ${list}`,
  }
}

function isArmorNote(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/')
}

function addedBeyond(allowed: ReadonlySet<string>, capabilities: Capabilities = {}): string[] {
  return (capabilities.add ?? []).filter((name) => !allowed.has(name))
}

export function addedCapabilities({ spec }: PodUnderCheck): Violation | undefined {
  const detail = addedDetail(spec, defaultCapabilities)
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}

/** Describes which containers add which capabilities that are not allowed. */
export function addedDetail(spec: PodSpec, allowed: ReadonlySet<string>): string | undefined {
  const names = named(spec, ({ capabilities }) => addedBeyond(allowed, capabilities).length > 0)
  if (names.length === 0) return undefined
  const added = containersOf(spec).flatMap(({ securityContext }) =>
    addedBeyond(allowed, securityContext?.capabilities),
  )
  const list = sortedQuotes(added)
  return `${plural('container', names)} must not include ${list} in securityContext.capabilities.add`
}

export function hostNamespaces({ spec }: PodUnderCheck): Violation | undefined {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field])
  if (used.length === 0) return undefined
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') }
}

export function hostPaths({ spec }: PodUnderCheck): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name)
  if (names.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: plural('volume', names) }
}

export function hostPorts({ spec }: PodUnderCheck): Violation | undefined {
  const names = named(spec, (_context, { ports }) => Boolean(ports?.some((port) => port.hostPort)))
  if (names.length === 0) return undefined
  const used = containersOf(spec).flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : [])),
  )
  const ports = [...new Set(used)].sort()
  const uses = `${names.length === 1 ? 'uses' : 'use'} ${pluralWord('hostPort', ports.length)}`
  return {
    reason: 'hostPort',
    detail: `${plural('container', names)} ${uses} ${ports.join(', ')}`,
  }
}

export function probeHosts({ spec }: PodUnderCheck): Violation | undefined {
  const names = named(spec, (_context, container) => hostsOf(container).length > 0)
  if (names.length === 0) return undefined
  const hosts = new Set(containersOf(spec).flatMap(hostsOf))
  const uses = `${names.length === 1 ? 'uses' : 'use'}`
  const word = pluralWord('probe or lifecycle host', hosts.size)
  return {
    reason: 'probe or lifecycle host',
    detail: `${plural('container', names.sort())} ${uses} ${word} ${sortedQuotes(hosts)}`,
  }
}

/** Returns the hosts that probes and hooks call instead of the pod itself. */
function hostsOf(container: AnyContainer): string[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle = {} } = container
  const handlers: readonly (LifecycleHandler | undefined)[] = [
    livenessProbe,
    readinessProbe,
    startupProbe,
    lifecycle.postStart,
    lifecycle.preStop,
  ]
  return handlers.flatMap((handler) =>
    [handler?.httpGet?.host, handler?.tcpSocket?.host].flatMap((host) => host || []),
  )
}

export function privileged({ spec }: PodUnderCheck): Violation | undefined {
  const names = named(spec, (context) => context.privileged === true)
  if (names.length === 0) return undefined
  const detail = `${plural('container', names)} must not set securityContext.privileged=true`
  return { reason: 'privileged', detail }
}

export function procMounts({ spec }: PodUnderCheck): Violation | undefined {
  const isBad = ({ procMount = 'Default' }: SecurityContext): boolean => procMount !== 'Default'
  const names = named(spec, isBad)
  if (names.length === 0) return undefined
  const values = containersOf(spec).flatMap(({ securityContext }) =>
    securityContext && isBad(securityContext) ? [securityContext.procMount ?? ''] : [],
  )
  const detail = `${plural('container', names)} must not set securityContext.procMount to ${sortedQuotes(values)}`
  return { reason: 'procMount', detail }
}

/** A pod in its own user namespace is exempt from this check. */
export function unlessUserNamespace(find: FindViolation): FindViolation {
  return (pod) => (pod.spec.hostUsers === false ? undefined : find(pod))
}

/** Limits the SELinux types that a pod may ask for. */
export function seLinux(allowed: readonly string[]): FindViolation {
  const types: ReadonlySet<string> = new Set(['', ...allowed])
  return ({ spec }) => {
    const ofPod = spec.securityContext?.seLinuxOptions
    const isBad = ({ type = '', user, role }: NonNullable<typeof ofPod>): boolean =>
      !types.has(type) || Boolean(user) || Boolean(role)
    const names = named(spec, ({ seLinuxOptions }) =>
      Boolean(seLinuxOptions && isBad(seLinuxOptions)),
    )
    const by = setters(Boolean(ofPod && isBad(ofPod)), names)
    if (by.length === 0) return undefined
    const ofContainers = containersOf(spec).map(
      ({ securityContext }) => securityContext?.seLinuxOptions,
    )
    const all = [ofPod, ...ofContainers].flatMap((options) => options ?? [])
    const badTypes = new Set(all.map(({ type = '' }) => type).filter((type) => !types.has(type)))
    const data = [
      ...(badTypes.size > 0
        ? [`${pluralWord('type', badTypes.size)} ${sortedQuotes(badTypes)}`]
        : []),
      ...(all.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role) ? ['role may not be set'] : []),
    ]
    const detail = `${by.join(' and ')} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`
    return { reason: 'seLinuxOptions', detail }
  }
}

const seccompPodKey = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/'

/** Before version 1.19 the seccomp profile was an annotation. */
export function seccompNotes({ annotations, spec }: PodUnderCheck): Violation | undefined {
  const keys = [seccompPodKey, ...containersOf(spec).map(({ name }) => `${seccompPrefix}${name}`)]
  const found = new Set<string>()
  for (const key of keys) {
    const value = annotations[key]
    if (value === undefined || isSeccompNote(value)) continue
    found.add(`${key}=${JSON.stringify(value)}`)
  }
  if (found.size === 0) return undefined
  const word = pluralWord('annotation', found.size)
  return { reason: 'seccompProfile', detail: `forbidden ${word} ${[...found].sort().join(', ')}` }
}

function isSeccompNote(value: string): boolean {
  return value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')
}

const seccompTypes: readonly string[] = ['RuntimeDefault', 'Localhost']

export function seccompUnconfined({ spec }: PodUnderCheck): Violation | undefined {
  const typeOf = ({ seccompProfile }: Pick<SecurityContext, 'seccompProfile'>): string[] =>
    seccompProfile && !seccompTypes.includes(seccompProfile.type) ? [seccompProfile.type] : []
  const ofPod = typeOf(spec.securityContext ?? {})
  const names = named(spec, (context) => typeOf(context).length > 0)
  const by = setters(ofPod.length > 0, names)
  if (by.length === 0) return undefined
  const types = containersOf(spec).flatMap((container) => typeOf(container.securityContext ?? {}))
  const list = sortedQuotes([...ofPod, ...types])
  const detail = `${by.join(' and ')} must not set securityContext.seccompProfile.type to ${list}`
  return { reason: 'seccompProfile', detail }
}

export function sysctls(allowed: readonly string[]): FindViolation {
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !allowed.includes(name))
    if (names.length === 0) return undefined
    return { reason: 'forbidden sysctls', detail: names.join(', ') }
  }
}

export function hostProcess({ spec }: PodUnderCheck): Violation | undefined {
  const names = named(spec, (context) => context.windowsOptions?.hostProcess === true)
  const by = setters(spec.securityContext?.windowsOptions?.hostProcess === true, names)
  if (by.length === 0) return undefined
  const detail = `${by.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`
  return { reason: 'hostProcess', detail }
}
