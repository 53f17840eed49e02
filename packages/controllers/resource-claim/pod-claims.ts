import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@skerry/api'
import { isControlledBy } from '@skerry/controller-runtime'
import { isPodFinished } from '../pods/pod-state.ts'

/** Names the entry of spec.resourceClaims that a claim was made for. */
export const podClaimAnnotation = 'resource.kubernetes.io/pod-claim-name'

/** Names have 63 characters, of which the server adds five and we a hyphen. */
const baseCharactersMax = 57

type PodClaim = NonNullable<NonNullable<Pod['spec']>['resourceClaims']>[number]

/**
 * Which claim an entry of a pod means. `pending`: to be made from a template; `unneeded`: decided
 * before that the pod needs none.
 */
export type ClaimName =
  | { state: 'named'; name: string; isGenerated: boolean }
  | { state: 'pending' }
  | { state: 'unneeded' }

export function claimNameOf(pod: Pod, entry: PodClaim): ClaimName {
  if (entry.resourceClaimName !== undefined) {
    return { state: 'named', name: entry.resourceClaimName, isGenerated: false }
  }
  const known = pod.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name)
  if (known === undefined) return { state: 'pending' }
  const name = known.resourceClaimName
  return name === undefined ? { state: 'unneeded' } : { state: 'named', name, isGenerated: true }
}

/** All claims that the pod names or was given. */
export function claimNamesOf(pod: Pod): string[] {
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const found = claimNameOf(pod, entry)
    return found.state === 'named' ? [found.name] : []
  })
}

/** Nothing of the pod runs, and nothing will. */
export function isPodDone(pod: Pod): boolean {
  const isScheduled = (pod.spec?.nodeName ?? '') !== ''
  return isPodFinished(pod) || (pod.metadata.deletionTimestamp !== undefined && !isScheduled)
}

/**
 * A pod that is bound without its claims being reserved for it, or that lacks a claim from a
 * template. A claim that belongs to somebody else blocks its entry until it is deleted.
 */
export function needsWork(pod: Pod, claim: (name: string) => ResourceClaim | undefined): boolean {
  // What a pod that is done gave back is not made again.
  if (pod.metadata.deletionTimestamp !== undefined || isPodDone(pod)) return false
  return (pod.spec?.resourceClaims ?? []).some((entry) => {
    const found = claimNameOf(pod, entry)
    if (found.state !== 'named') return found.state === 'pending'
    const existing = claim(found.name)
    if (existing === undefined) return entry.resourceClaimTemplateName !== undefined
    if (found.isGenerated && !isControlledBy(existing, pod)) return false
    return (pod.spec?.nodeName ?? '') !== '' && lacksReservation(pod, existing)
  })
}

/** Allocated, but not for this pod: the scheduler would have reserved it. */
export function lacksReservation(pod: Pod, { status }: ResourceClaim): boolean {
  if (status?.allocation === undefined) return false
  return !(status.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid)
}

/** The claim that a template makes for one entry of a pod; the server completes its name. */
export function claimFromTemplate(
  pod: Pod,
  entryName: string,
  { spec: template }: ResourceClaimTemplate,
): ResourceClaim {
  const { name = '', namespace, uid = '' } = pod.metadata
  const { labels, annotations } = template.metadata ?? {}
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      namespace,
      generateName: generateName(name, entryName),
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [podClaimAnnotation]: entryName },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: template.spec,
  }
}

/** Of names that are too long both parts are cut, in proportion. */
function generateName(podName: string, entryName: string): string {
  const whole = `${podName}-${entryName}-`
  if (whole.length <= baseCharactersMax) return whole
  const cut = (text: string): string =>
    text.slice(0, Math.floor((text.length * baseCharactersMax) / whole.length))
  return `${cut(podName)}-${cut(entryName)}`
}
