import { addedDetail, seccompUnconfined } from './baseline-checks.ts'
import {
  named,
  plural,
  pluralWord,
  setters,
  sortedQuotes,
  type FindViolation,
  type PodUnderCheck,
  type Violation,
} from './pod-under-check.ts'

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

/** From version 1.25 on, Windows pods are exempt from checks that have no meaning on Windows. */
export function unlessWindows(find: FindViolation): FindViolation {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : find(pod))
}

export function privilegeEscalation({ spec }: PodUnderCheck): Violation | undefined {
  const names = named(spec, (context) => context.allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  const detail = `${plural('container', names)} must set securityContext.allowPrivilegeEscalation=false`
  return { reason: 'allowPrivilegeEscalation != false', detail }
}

const bindService: ReadonlySet<string> = new Set(['NET_BIND_SERVICE'])

export function undroppedCapabilities({ spec }: PodUnderCheck): Violation | undefined {
  const keeping = named(spec, ({ capabilities }) => !capabilities?.drop?.includes('ALL'))
  const parts: string[] = []
  if (keeping.length > 0) {
    parts.push(`${plural('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`)
  }
  const added = addedDetail(spec, bindService)
  if (added !== undefined) parts.push(added)
  if (parts.length === 0) return undefined
  return { reason: 'unrestricted capabilities', detail: parts.join('; ') }
}

export function volumeTypes({ spec }: PodUnderCheck): Violation | undefined {
  const bad = (spec.volumes ?? []).flatMap((volume) => {
    const type = Object.keys(volume).find((key) => !restrictedVolumes.has(key))
    return type === undefined ? [] : [{ name: volume.name, type }]
  })
  if (bad.length === 0) return undefined
  const names = bad.map(({ name }) => name)
  const types = new Set(bad.map(({ type }) => type))
  const uses = `${names.length === 1 ? 'uses' : 'use'}`
  const word = pluralWord('restricted volume type', types.size)
  const detail = `${plural('volume', names)} ${uses} ${word} ${sortedQuotes(types)}`
  return { reason: 'restricted volume types', detail }
}

export function mayRunAsRoot({ spec }: PodUnderCheck): Violation | undefined {
  const ofPod = spec.securityContext?.runAsNonRoot
  const reason = 'runAsNonRoot != true'
  const explicit = named(spec, (context) => context.runAsNonRoot === false)
  const by = setters(ofPod === false, explicit)
  if (by.length > 0) {
    const detail = `${by.join(' and ')} must not set securityContext.runAsNonRoot=false`
    return { reason, detail }
  }
  if (ofPod === true) return undefined
  const unset = named(spec, (context) => context.runAsNonRoot !== true)
  if (unset.length === 0) return undefined
  const detail = `pod or ${plural('container', unset)} must set securityContext.runAsNonRoot=true`
  return { reason, detail }
}

export function runsAsRoot({ spec }: PodUnderCheck): Violation | undefined {
  const names = named(spec, (context) => context.runAsUser === 0)
  const by = setters(spec.securityContext?.runAsUser === 0, names)
  if (by.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${by.join(' and ')} must not set runAsUser=0` }
}

export function seccompUnset(pod: PodUnderCheck): Violation | undefined {
  const unconfined = seccompUnconfined(pod)
  const { spec } = pod
  if (unconfined) return unconfined
  if (spec.securityContext?.seccompProfile) return undefined
  const names = named(spec, (context) => context.seccompProfile === undefined)
  if (names.length === 0) return undefined
  const detail = `pod or ${plural('container', names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason: 'seccompProfile', detail }
}
