import { fieldForbidden, fieldInvalid, type PodSpec } from '@skerry/api'
import { checkRelativePath, type Found } from '../../checks.ts'
import { appArmorPrefix } from './app-armor.ts'
import type { Loose } from '../../typed-strategy.ts'

type Annotations = Readonly<Record<string, string>>

export const mirrorKey = 'kubernetes.io/config.mirror'
const deletionCostKey = 'controller.kubernetes.io/pod-deletion-cost'
const seccompPodKey = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/'

/** Checks the annotations that Kubernetes itself reads. */
export function checkPodAnnotations(
  annotations: Annotations = {},
  spec: Loose<PodSpec>,
  field: string,
  found: Found,
): void {
  const mirror = annotations[mirrorKey]
  if (mirror !== undefined && !spec.nodeName) {
    const detail = 'must set spec.nodeName if mirror pod annotation is set'
    found.push(fieldInvalid(`${field}[${mirrorKey}]`, mirror, detail))
  }
  const cost = annotations[deletionCostKey]
  if (cost !== undefined && !isInt32(cost)) {
    found.push(fieldInvalid(`${field}[${deletionCostKey}]`, cost, 'must be a 32bit integer'))
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key === seccompPodKey || key.startsWith(seccompContainerPrefix)) {
      checkSeccompProfile(value, `${field}.${key}`, found)
    }
    if (key.startsWith(appArmorPrefix)) checkAppArmorProfile(key, value, { spec, field }, found)
  }
}

function isInt32(text: string): boolean {
  if (!/^(-?[1-9]\d*|0)$/.test(text)) return false
  return Math.abs(Number(text)) <= 2_147_483_647
}

function checkSeccompProfile(profile: string, field: string, found: Found): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return
  const prefix = 'localhost/'
  if (profile.startsWith(prefix)) checkRelativePath(profile.slice(prefix.length), field, found)
  else found.push(fieldInvalid(field, profile, 'must be a valid seccomp profile'))
}

function checkAppArmorProfile(
  key: string,
  profile: string,
  place: { spec: Loose<PodSpec>; field: string },
  found: Found,
): void {
  const { spec } = place
  const field = `${place.field}[${key}]`
  const name = key.slice(appArmorPrefix.length)
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ]
  if (!containers.some((container) => container.name === name)) {
    found.push(fieldInvalid(field, name, 'container not found'))
  }
  const isKnown = ['', 'runtime/default', 'unconfined'].includes(profile)
  if (isKnown || profile.startsWith('localhost/')) return
  found.push(fieldInvalid(field, profile, `invalid AppArmor profile name: "${profile}"`))
}

/** Annotations that take effect at a pod's start cannot be changed afterwards. */
export function checkPodAnnotationUpdate(
  next: Annotations = {},
  old: Annotations = {},
  field: string,
  found: Found,
): void {
  const forbid = (key: string, verb: string): void => {
    if (key.startsWith(appArmorPrefix)) {
      found.push(fieldForbidden(`${field}[${key}]`, `may not ${verb} AppArmor annotations`))
    }
    if (key === mirrorKey) {
      found.push(fieldForbidden(`${field}[${key}]`, `may not ${verb} mirror pod annotation`))
    }
  }
  for (const [key, value] of Object.entries(old)) {
    if (next[key] !== value) forbid(key, 'remove or update')
  }
  for (const key of Object.keys(next)) {
    if (!(key in old)) forbid(key, 'add')
  }
}
