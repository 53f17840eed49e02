import {
  isStatusError,
  labelSelectorOf,
  type ControllerRevision,
  type PersistentVolumeClaim,
  type Pod,
  type StatefulSet,
} from '@skerry/api'
import { messageOf } from '@skerry/base'
import { keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  byControllerUid,
  claimOwned,
  controllerOf,
  controllerUidIndex,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import {
  planTruncation,
  sortRevisions,
  statefulSetRevisions,
  templateOfRevision,
} from '../history/controller-revisions.ts'
import { claimRevisions, writeRevision } from '../history/write-revisions.ts'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { nextAvailabilityMs } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import {
  identityLabels,
  isInRange,
  ordinalOf,
  revisionNameOf,
  type Revision,
} from './stateful-pods.ts'
import { planStatefulSet, type StatefulSetStep } from './stateful-set-plan.ts'
import { claimsOf, hasOtherController, planClaimOwners } from './volume-claims.ts'

/** Runs pods with stable names, storage and an order. */
export const statefulSetController: ControllerDefinition = {
  name: 'statefulset-controller',
  watches: [
    watch(resources.statefulSets, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, {
      keysOf: statefulSetsOfPod,
      indexes: { [byControllerUid]: controllerUidIndex },
    }),
    watch(resources.controllerRevisions, {
      keysOf: () => [],
      indexes: { [byControllerUid]: controllerUidIndex },
    }),
    watch(resources.persistentVolumeClaims, { keysOf: () => [] }),
  ],
  reconcile,
}

function statefulSetsOfPod(change: Change<Pod>, context: ControllerContext): readonly string[] {
  const keys = new Set<string>()
  for (const pod of [change.old, change.object]) {
    const owner = pod && controllerOf(pod)
    if (owner?.kind === 'StatefulSet') keys.add(`${change.object.metadata.namespace}/${owner.name}`)
  }
  const { object } = change
  if (change.type === 'deleted' || controllerOf(object)) return [...keys]
  for (const set of context.informer(resources.statefulSets).list(object.metadata.namespace)) {
    const matches = labelSelectorOf(set.spec?.selector).matches(object.metadata.labels)
    if (matches && ordinalOf(set, object) >= 0) keys.add(keyOfObject(set))
  }
  return [...keys]
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const set = context.informer(resources.statefulSets).get(parseKey(key))
  if (!set) return
  const owners = context.cluster.resource(resources.statefulSets)
  const selector = labelSelectorOf(set.spec?.selector)
  const revisions = await claimRevisions({ owner: set, owners, selector }, context, signal)
  const pods = await claimPods(set, context, signal)
  const { current, update, collisionCount } = await syncRevisions(
    { set, revisions },
    context,
    signal,
  )
  const claims = (name: string): PersistentVolumeClaim | undefined =>
    context
      .informer(resources.persistentVolumeClaims)
      .get({ namespace: set.metadata.namespace ?? '', name })
  const nowMs = context.clock.now()
  const plan = planStatefulSet({ set, pods, claims, current, update, collisionCount, nowMs })
  try {
    for (const step of plan.steps) await take(step, set, context, signal)
  } finally {
    if (!sameStatus(set.status, plan.status)) {
      const client = context.client(resources.statefulSets)
      await client.updateStatus({ ...set, status: plan.status }, signal)
    }
  }
  await truncateHistory({ set, pods, keep: [current.name, update.name] }, context, signal)
  const requeueAfterMs = nextAvailabilityMs(pods, set.spec?.minReadySeconds ?? 0, nowMs)
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

async function claimPods(
  set: StatefulSet,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Pod[]> {
  const claim = {
    owner: set,
    owners: context.cluster.resource(resources.statefulSets),
    selector: labelSelectorOf(set.spec?.selector),
    resource: resources.pods,
    isCandidate: (pod: Pod) => controllerOf(pod) !== undefined || ordinalOf(set, pod) >= 0,
  }
  return claimOwned(claim, context, signal)
}

interface Revisions {
  current: Revision
  update: Revision
  collisionCount: number
}

async function syncRevisions(
  { set, revisions }: { set: StatefulSet; revisions: readonly ControllerRevision[] },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Revisions> {
  const template = set.spec?.template ?? {}
  const known = set.status?.collisionCount ?? 0
  const wanted = { owner: set, template, collisionCount: known, naming: statefulSetRevisions }
  const { revision, collisionCount } = await writeRevision(wanted, revisions, context, signal)
  const update = toRevision(revision)
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision)
  return {
    current: current ? toRevision(current) : update,
    update,
    collisionCount: collisionCount ?? 0,
  }
}

function toRevision(revision: ControllerRevision): Revision {
  return { name: revision.metadata.name ?? '', template: templateOfRevision(revision) }
}

async function truncateHistory(
  { set, pods, keep }: { set: StatefulSet; pods: readonly Pod[]; keep: readonly string[] },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const informer = context.informer(resources.controllerRevisions)
  const sorted = sortRevisions(informer.byIndex(byControllerUid, set.metadata.uid ?? ''))
  const live = new Set([...keep, ...pods.map(revisionNameOf)])
  const client = context.client(resources.controllerRevisions)
  for (const revision of planTruncation(sorted, live, set.spec?.revisionHistoryLimit ?? 10)) {
    await ignoreNotFound(client.delete(parseKey(keyOfObject(revision)), signal))
  }
}

async function take(
  step: StatefulSetStep,
  set: StatefulSet,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  switch (step.type) {
    case 'create':
      return create(step, set, context, signal)
    case 'delete':
      return report({ verb: 'Delete', set, pod: step.pod }, context, () =>
        deletePod(step.pod, context, signal),
      )
    case 'restore-claims':
      return createClaims({ set, ordinal: step.ordinal, name: undefined }, context, signal)
    case 'relabel':
      return report({ verb: 'Update', set, pod: step.pod }, context, () =>
        relabel(step.pod, step.ordinal, context, signal),
      )
    case 'own-claims':
      // For a pod that is being removed, no event is recorded.
      if (!isInRange(set, step.ordinal)) return ownClaims(step, set, context, signal)
      return report({ verb: 'Update', set, pod: step.pod }, context, () =>
        ownClaims(step, set, context, signal),
      )
  }
}

async function create(
  { pod, ordinal }: Extract<StatefulSetStep, { type: 'create' }>,
  set: StatefulSet,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const created: { pod?: Pod } = {}
  await report({ verb: 'Create', set, pod }, context, async () => {
    await createClaims({ set, ordinal, name: pod.metadata.name }, context, signal)
    created.pod = await context.client(resources.pods).create(pod, signal)
  })
  if (created.pod) await ownClaims({ pod: created.pod, ordinal }, set, context, signal)
}

async function createClaims(
  { set, ordinal, name }: { set: StatefulSet; ordinal: number; name: string | undefined },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  for (const claim of claimsOf(set, ordinal)) {
    const key = parseKey(keyOfObject(claim))
    const known = context.informer(resources.persistentVolumeClaims).get(key)
    if (known?.metadata.deletionTimestamp) {
      throw new Error(`pvc ${claim.metadata.name} is being deleted`)
    }
    if (known) continue
    const pod = name ?? `${set.metadata.name}-${ordinal}`
    await createClaim({ claim, set, pod }, context, signal)
  }
}

async function createClaim(
  { claim, set, pod }: { claim: PersistentVolumeClaim; set: StatefulSet; pod: string },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const what = `Create Claim ${claim.metadata.name}`
  const where = `Pod ${pod} in StatefulSet ${set.metadata.name}`
  try {
    await context.client(resources.persistentVolumeClaims).create(claim, signal)
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return
    const message = `${what} for ${where} failed error: ${messageOf(error)}`
    context.events.event(set, { type: 'Warning', reason: 'FailedCreate', message })
    throw error
  }
  const message = `${what} ${where} success`
  context.events.event(set, { type: 'Normal', reason: 'SuccessfulCreate', message })
}

async function deletePod(pod: Pod, context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { uid } = pod.metadata
  const request = { ...parseKey(keyOfObject(pod)), ...(uid ? { preconditions: { uid } } : {}) }
  try {
    await context.client(resources.pods).delete(request, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
  }
}

async function relabel(
  pod: Pod,
  ordinal: number,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const labels = identityLabels(pod.metadata.name ?? '', ordinal)
  const patch = { metadata: { labels } }
  const request = { ...parseKey(keyOfObject(pod)), type: 'merge' as const, patch }
  await context.client(resources.pods).patch(request, signal)
}

async function ownClaims(
  { pod, ordinal }: { pod: Pod; ordinal: number },
  set: StatefulSet,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const use = { set, pod, isScaledDown: !isInRange(set, ordinal) }
  for (const { metadata } of claimsOf(set, ordinal)) {
    const key = { namespace: set.metadata.namespace ?? '', name: metadata.name ?? '' }
    const claim = context.informer(resources.persistentVolumeClaims).get(key)
    const ownerReferences = claim && planClaimOwners(claim, use)
    if (!claim || !ownerReferences) continue
    if (hasOtherController(claim, use)) {
      const message = `PersistentVolumeClaim ${key.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`
      context.events.event(set, { type: 'Warning', reason: 'ConflictingController', message })
    }
    const { resourceVersion } = claim.metadata
    const patch = { metadata: { ownerReferences, resourceVersion } }
    const request = { ...key, type: 'merge' as const, patch }
    await context.client(resources.persistentVolumeClaims).patch(request, signal)
  }
}

async function report(
  { verb, set, pod }: { verb: 'Create' | 'Update' | 'Delete'; set: StatefulSet; pod: Pod },
  context: ControllerContext,
  act: () => Promise<void>,
): Promise<void> {
  const what = `${verb} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`
  try {
    await act()
  } catch (error) {
    const message = `${what} failed error: ${messageOf(error)}`
    context.events.event(set, { type: 'Warning', reason: `Failed${verb}`, message })
    throw error
  }
  const message = `${what} successful`
  context.events.event(set, { type: 'Normal', reason: `Successful${verb}`, message })
}
