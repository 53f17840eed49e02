import { messageOf } from '@skerry/base'
import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import {
  claimFromTemplate,
  claimNameOf,
  claimNamesOf,
  isPodDone,
  lacksReservation,
  needsWork,
  podClaimAnnotation,
} from './pod-claims.ts'
import { reconcileClaim } from './reservations.ts'

const claimPrefix = 'claim:'
const podPrefix = 'pod:'
const byClaim = 'resourceClaim'
const byTemplate = 'resourceClaimTemplate'
const byOwner = 'podOwner'

/** The field manager of pods' status.resourceClaimStatuses. */
const statusOwner = 'ResourceClaimController'

/**
 * Creates the claims that pods request by template, reserves allocated ones for pods that were not
 * bound by the scheduler, and releases those of finished pods.
 */
export const resourceClaimController: ControllerDefinition = {
  name: 'resourceclaim-controller',
  eventComponent: 'resource_claim',
  workers: 10,
  watches: [
    watch(resources.pods, {
      indexes: {
        [byClaim]: (pod) => claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`),
        [byTemplate]: (pod) => templateKeysOf(pod),
      },
      keysOf: ({ type, object }) => keysOfPod(object, type === 'deleted'),
    }),
    watch(resources.resourceClaims, {
      indexes: { [byOwner]: podOwnersOf },
      keysOf: ({ type, object }, context) => [
        ...(type === 'deleted' ? [] : [`${claimPrefix}${keyOfObject(object)}`]),
        ...podsBy(byClaim, keyOfObject(object), context),
      ],
    }),
    watch(resources.resourceClaimTemplates, {
      keysOf: ({ type, object }, context) =>
        type === 'deleted' ? [] : podsBy(byTemplate, keyOfObject(object), context),
    }),
  ],
  async reconcile(key, context, signal) {
    if (key.startsWith(podPrefix)) {
      const pod = context.informer(resources.pods).get(parseKey(key.slice(podPrefix.length)))
      if (pod !== undefined) await reconcilePod(pod, context, signal)
      return
    }
    const claim = context
      .informer(resources.resourceClaims)
      .get(parseKey(key.slice(claimPrefix.length)))
    if (claim !== undefined) await reconcileClaim(claim, context, signal)
  },
}

function templateKeysOf({ metadata, spec }: Pod): string[] {
  return (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
    name === undefined ? [] : [`${metadata.namespace}/${name}`],
  )
}

function podOwnersOf({ metadata }: ResourceClaim): string[] {
  return (metadata.ownerReferences ?? []).flatMap(({ apiVersion, kind, controller, uid }) =>
    controller === true && apiVersion === 'v1' && kind === 'Pod' ? [uid] : [],
  )
}

function podsBy(index: string, value: string, context: ControllerContext): string[] {
  return context
    .informer(resources.pods)
    .byIndex(index, value)
    .flatMap((pod) => keysOfPod(pod, false))
}

/** A finished pod releases its claims, including the one that the scheduler created for it. */
function keysOfPod(pod: Pod, isGone: boolean): string[] {
  const { namespace } = pod.metadata
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  const claims = [...claimNamesOf(pod), ...(extended === undefined ? [] : [extended])]
  const released = isGone || isPodDone(pod) ? claims : []
  const keys = released.map((name) => `${claimPrefix}${namespace}/${name}`)
  if (!isGone && (pod.spec?.resourceClaims ?? []).length > 0) {
    keys.push(`${podPrefix}${keyOfObject(pod)}`)
  }
  return keys
}

async function reconcilePod(
  pod: Pod,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = pod.metadata
  const claims = context.informer(resources.resourceClaims)
  const claim = (name: string): ResourceClaim | undefined => claims.get({ namespace, name })
  if (!needsWork(pod, claim)) return
  const made: { name: string; resourceClaimName: string }[] = []
  for (const entry of pod.spec?.resourceClaims ?? []) {
    try {
      const found = await ensureClaim({ pod, entry }, context, signal)
      const resourceClaimName = found?.metadata.name
      if (resourceClaimName !== undefined) made.push({ name: entry.name, resourceClaimName })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      reportFailure({ pod, entry: entry.name, error }, context)
      throw error
    }
  }
  if (made.length > 0) await recordClaims({ pod, made }, context, signal)
  if ((pod.spec?.nodeName ?? '') !== '') await reserveClaims(pod, context, signal)
}

function reportFailure(
  { pod, entry, error }: { pod: Pod; entry: string; error: unknown },
  context: ControllerContext,
): void {
  const text = messageOf(error)
  context.events.event(pod, {
    type: 'Warning',
    reason: 'FailedResourceClaimCreation',
    message: `PodResourceClaim ${entry}: ${text}`,
  })
}

type Entry = NonNullable<NonNullable<Pod['spec']>['resourceClaims']>[number]

/** Resolves to the claim to record in the pod's status, or to undefined if there is none. */
async function ensureClaim(
  { pod, entry }: { pod: Pod; entry: Entry },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ResourceClaim | undefined> {
  const { namespace, uid = '' } = pod.metadata
  const claims = context.informer(resources.resourceClaims)
  const named = claimNameOf(pod, entry)
  if (named.state === 'unneeded') return undefined
  if (named.state === 'named') {
    const existing = claims.get({ namespace, name: named.name })
    const isUsable = !named.isGenerated || podOwnersOf(existing ?? noClaim).includes(uid)
    if (existing !== undefined && isUsable) return undefined
  }
  const templateName = entry.resourceClaimTemplateName
  if (templateName === undefined) return undefined
  // An earlier run created it and ended before it updated the pod's status.
  const orphan = claims
    .byIndex(byOwner, uid)
    .find(({ metadata }) => metadata.annotations?.[podClaimAnnotation] === entry.name)
  if (orphan !== undefined) return orphan
  const template = templateOf({ namespace, name: templateName }, context)
  const claim = claimFromTemplate(pod, entry.name, template)
  return await context.client(resources.resourceClaims).create(claim, signal)
}

const noClaim: ResourceClaim = Object.freeze({
  apiVersion: '',
  kind: '',
  metadata: {},
  spec: {},
})

/** Throws when there is none yet: its watch brings the pod back, and so does the backoff. */
function templateOf(
  key: { namespace: string | undefined; name: string },
  context: ControllerContext,
): ResourceClaimTemplate {
  const template = context.informer(resources.resourceClaimTemplates).get(key)
  if (template !== undefined) return template
  const missing = `resourceclaimtemplate.resource.k8s.io "${key.name}" not found`
  throw new Error(`resource claim template "${key.name}": ${missing}`)
}

async function recordClaims(
  { pod, made }: { pod: Pod; made: readonly { name: string; resourceClaimName: string }[] },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '' } = pod.metadata
  // An apply must list everything: omitted fields would be removed from the pod.
  const kept = (pod.status?.resourceClaimStatuses ?? []).filter(
    (known) => !made.some((each) => each.name === known.name),
  )
  const patch = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    status: { resourceClaimStatuses: [...kept, ...made] },
  }
  await context
    .client(resources.pods)
    .patchStatus(
      { namespace, name, type: 'apply', force: true, fieldManager: statusOwner, patch },
      signal,
    )
}

/** For pods that were bound without the scheduler, which makes reservations itself. */
async function reserveClaims(
  { metadata: { namespace, name = '' } }: Pod,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const pod = context.informer(resources.pods).get({ namespace, name })
  if (pod === undefined) return
  for (const claimName of claimNamesOf(pod)) {
    const claim = context.informer(resources.resourceClaims).get({ namespace, name: claimName })
    if (claim === undefined || !lacksReservation(pod, claim)) continue
    const consumer = { resource: 'pods', name, uid: pod.metadata.uid ?? '' }
    const reservedFor = [...(claim.status?.reservedFor ?? []), consumer]
    const next = { ...claim, status: { ...claim.status, reservedFor } }
    await context.client(resources.resourceClaims).updateStatus(next, signal)
  }
}
