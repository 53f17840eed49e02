import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@skerry/api'
import { isControlledBy } from '@skerry/controller-runtime'
import { isPodFinished } from '../pods/pod-state.ts'
import { controllerBounds } from '../limits-table.ts'

/** Names the entry of spec.resourceClaims that a claim was made for. */
export const podClaimAnnotation = 'resource.kubernetes.io/pod-claim-name'

const { baseCharactersMax } = controllerBounds.podClaims

type PodClaim = NonNullable<NonNullable<Pod['spec']>['resourceClaims']>[number]

/**
 * The claim that an entry of a pod refers to. `pending`: it must be made from a template;
 * `unneeded`: an earlier decision was that the pod needs none.
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

/** Returns all claims that the pod names or was given. */
export function claimNamesOf(pod: Pod): string[] {
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const found = claimNameOf(pod, entry)
    return found.state === 'named' ? [found.name] : []
  })
}

/** Returns true if nothing of the pod runs or ever will. */
export function isPodDone(pod: Pod): boolean {
  const isScheduled = (pod.spec?.nodeName ?? '') !== ''
  return isPodFinished(pod) || (pod.metadata.deletionTimestamp !== undefined && !isScheduled)
}

/**
 * Returns true for a bound pod without reserved claims, and for a pod that lacks a claim from a
 * template. A claim of another owner blocks its entry until it is deleted.
 */
export function needsWork(pod: Pod, claim: (name: string) => ResourceClaim | undefined): boolean {
  // A claim that a finished pod gave back is not created again.
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

/**
 * Returns true if the claim is allocated but not reserved for this pod, which the scheduler would
 * have done.
 */
export function lacksReservation(pod: Pod, { status }: ResourceClaim): boolean {
  if (status?.allocation === undefined) return false
  return !(status.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid)
}

/** Builds the claim that a template defines for one entry of a pod. The server completes its name. */
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

/** Both parts of a name that is too long are cut in proportion. */
function generateName(podName: string, entryName: string): string {
  const whole = `${podName}-${entryName}-`
  if (whole.length <= baseCharactersMax) return whole
  const cut = (text: string): string =>
    text.slice(0, Math.floor((text.length * baseCharactersMax) / whole.length))
  return `${cut(podName)}-${cut(entryName)}`
}
