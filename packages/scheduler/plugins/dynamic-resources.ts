import { matchesNodeSelectorTerms, type Pod, type ResourceClaim } from '@skerry/api'
import {
  refuseForGood,
  type PlacementContext,
  type Plugin,
  type Refusal,
} from '../framework/plugin.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { schedulerBounds } from '../limits-table.ts'

const { reservationsMax } = schedulerBounds.dynamicResources

type FindClaim = (namespace: string, name: string) => ResourceClaim | undefined

/**
 * Handles claims for devices. A claim with allocated devices restricts a pod to their nodes.
 * Devices are not allocated here, so a pod whose claim has none waits.
 */
export const dynamicResources: Plugin = {
  name: 'DynamicResources',
  preFilter: (context) => {
    for (const claim of deviceClaimsOf(context)) {
      const refusal = refuseWholly(context, claim)
      if (refusal !== undefined) return refusal
    }
    return undefined
  },
  filter: (context) => {
    const claims = deviceClaimsOf(context)
    if (claims.length === 0) return undefined
    const isWaiting = claims.some(({ status }) => status?.allocation === undefined)
    return (node) => {
      if (isWaiting) return refuseForGood('cannot allocate all claims')
      return claims.every((claim) => isAvailable(claim, node))
        ? undefined
        : refuseForGood('resourceclaim not available on the node')
    }
  },
  isHelpedBy: ({ kind }) => kind === 'resource-claim' || kind === 'device-class',
}

/** Returns why the pod must not even be tried: a claim does not exist yet, or is not for it. */
export function missingClaim(pod: Pod, find: FindClaim): string | undefined {
  for (const { name: part, resourceClaimTemplateName } of pod.spec?.resourceClaims ?? []) {
    const name = claimNameOf(pod, part)
    if (name === undefined) return `pod claim ${part}: resource claim not created yet`
    if (name === '') continue
    const claim = find(pod.metadata.namespace ?? '', name)
    if (claim === undefined) return `resourceclaim "${name}" not found`
    if (claim.metadata.deletionTimestamp !== undefined) {
      return `resourceclaim "${name}" is being deleted`
    }
    const owner = claim.metadata.ownerReferences?.find((each) => each.controller === true)
    if (resourceClaimTemplateName !== undefined && owner?.uid !== pod.metadata.uid) {
      return `resourceclaim "${name}" was not created for pod ${pod.metadata.name}`
    }
  }
  return undefined
}

/** Returns the existing claims that a pod names. */
export function deviceClaimsOf({ pod, snapshot }: PlacementContext): ResourceClaim[] {
  return (pod.pod.spec?.resourceClaims ?? []).flatMap(({ name }) => {
    const claimName = claimNameOf(pod.pod, name) ?? ''
    return claimName === '' ? [] : (snapshot.resourceClaim(pod.namespace, claimName) ?? [])
  })
}

/**
 * Returns an empty text if the template needs no claim, and undefined if none has been created from
 * it yet.
 */
function claimNameOf({ spec, status }: Pod, part: string): string | undefined {
  const own = spec?.resourceClaims?.find(({ name }) => name === part)?.resourceClaimName
  if (own !== undefined) return own
  const made = status?.resourceClaimStatuses?.find(({ name }) => name === part)
  return made === undefined ? undefined : (made.resourceClaimName ?? '')
}

function refuseWholly(
  { pod, snapshot }: PlacementContext,
  claim: ResourceClaim,
): Refusal | undefined {
  const { allocation } = claim.status ?? {}
  if (allocation !== undefined) {
    const isFull = (claim.status?.reservedFor ?? []).length >= reservationsMax
    return isFull && !isReservedFor(claim, pod.uid)
      ? refuseForGood('resourceclaim in use')
      : undefined
  }
  for (const { name, exactly, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
    const asked = [
      ...(exactly === undefined ? [] : [{ name, deviceClassName: exactly.deviceClassName }]),
      ...firstAvailable.map((each) => ({ ...each, name: `${name}/${each.name}` })),
    ]
    for (const each of asked) {
      if (snapshot.deviceClass(each.deviceClassName) !== undefined) continue
      return refuseForGood(
        `request ${each.name}: device class ${each.deviceClassName} does not exist`,
      )
    }
  }
  return undefined
}

export function isReservedFor({ status }: ResourceClaim, uid: string): boolean {
  return (status?.reservedFor ?? []).some((each) => each.uid === uid)
}

function isAvailable({ status }: ResourceClaim, node: NodeInfo): boolean {
  const terms = status?.allocation?.nodeSelector?.nodeSelectorTerms
  return terms === undefined || matchesNodeSelectorTerms(terms, node)
}
