import type { AppArmorProfile, Pod } from '@skerry/api'
import { isSame } from '../../checks.ts'
import type { Loose, LooseObject } from '../../typed-strategy.ts'

export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

const localhost = 'localhost/'

/**
 * Returns the profile of an annotation that is older than the field, or undefined if it is not a
 * known one.
 */
export function appArmorProfileOf(annotation: string): Loose<AppArmorProfile> | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const localhostProfile = annotation.startsWith(localhost) && annotation.slice(localhost.length)
  return localhostProfile ? { type: 'Localhost', localhostProfile } : undefined
}

export const appArmorAdvice = 'deprecated since v1.30; use the "appArmorProfile" field instead'

/** A node reads only the fields. */
export function takeAppArmorAnnotations(
  { metadata, spec = {} }: LooseObject<Pod>,
  warn?: (text: string) => void,
): void {
  const { annotations = {} } = metadata
  if (spec.os?.name === 'windows') return
  const ofPod = spec.securityContext?.appArmorProfile
  const lists = [spec.initContainers, spec.containers, spec.ephemeralContainers]
  for (const container of lists.flatMap((list) => list ?? [])) {
    const annotation = annotations[`${appArmorPrefix}${container.name}`]
    if (annotation === undefined || container.securityContext?.appArmorProfile) continue
    const profile = appArmorProfileOf(annotation)
    if (profile && ofPod && isSame(profile, ofPod)) continue
    warn?.(`metadata.annotations[${appArmorPrefix}${container.name}]: ${appArmorAdvice}`)
    if (!profile) continue
    container.securityContext ??= {}
    container.securityContext.appArmorProfile = profile
  }
}
