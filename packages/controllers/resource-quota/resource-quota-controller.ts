import {
  addLists,
  canonicalQuantity,
  hasQuotaScopes,
  isInQuotaScopes,
  quotaUsage,
  type QuotaUser,
  type ResourceList,
  type ResourceQuota,
} from '@skerry/api'
import {
  keyOfObject,
  parseKey,
  resources,
  type Change,
  type KnownResource,
  type PartialObject,
  type ResourceRef,
} from '@skerry/client'
import {
  runController,
  watch,
  type BackgroundController,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  type Watch,
} from '@skerry/controller-runtime'
import { createObjectCounts, isObjectCount, type ObjectCounts } from './object-counts.ts'
import { sameStatus } from '../status/same-status.ts'
import { controllerBounds } from '../limits-table.ts'

const { recountMs, absentMs, changeDelayMs } = controllerBounds.resourceQuotaController

/**
 * Kinds that are counted at once when an object is added or removed. Other controllers watch them
 * anyway, so their informers cost nothing here.
 */
const countedKinds: readonly KnownResource<PartialObject>[] = Object.freeze([
  resources.replicationControllers,
  resources.resourceQuotas,
  resources.replicaSets,
  resources.deployments,
  resources.statefulSets,
  resources.daemonSets,
  resources.jobs,
  resources.cronJobs,
  resources.endpoints,
  resources.serviceAccounts,
])

/** Writes a namespace's usage into the status of its quotas. Admission enforces the limits. */
export const resourceQuotaController: BackgroundController = {
  name: 'resourcequota-controller',
  async run(deps, signal) {
    await using counts = createObjectCounts(deps, signal)
    await runController(countingController(counts), deps, signal)
  },
}

function countingController(counts: ObjectCounts): ControllerDefinition {
  return {
    name: 'resourcequota-controller',
    watches: [
      watch(resources.resourceQuotas, {
        keysOf({ object }, context) {
          followCounted(counts, context)
          return [keyOfObject(object)]
        },
      }),
      watchUsers(resources.pods),
      watchUsers(resources.services),
      watchUsers(resources.persistentVolumeClaims),
      ...countedKinds.map(watchCounted),
    ],
    reconcile: (key, context, signal) => reconcile(key, { context, counts }, signal),
  }
}

/** Follows the kinds that quotas count, as long as they do. */
function followCounted(counts: ObjectCounts, context: ControllerContext): void {
  const names = new Set<string>()
  for (const quota of context.informer(resources.resourceQuotas).list()) {
    for (const name of countedNames(quota)) if (!kindOfName(name)) names.add(name)
  }
  counts.follow(names, (namespace) => {
    for (const quota of context.informer(resources.resourceQuotas).list(namespace)) {
      context.requeueAfter(keyOfObject(quota), changeDelayMs)
    }
  })
}

function watchUsers<T extends PartialObject>(resource: KnownResource<T>): Watch {
  return watch(resource, { keysOf: quotasOfNamespace, delayMs: changeDelayMs })
}

/** Only the number of objects matters. */
function watchCounted(resource: KnownResource<PartialObject>): Watch {
  return watch(resource, {
    keysOf: (change, context) =>
      change.type === 'updated' ? [] : quotasOfNamespace(change, context),
    delayMs: changeDelayMs,
  })
}

function quotasOfNamespace(
  { object }: Change<PartialObject>,
  context: ControllerContext,
): readonly string[] {
  return context
    .informer(resources.resourceQuotas)
    .list(object.metadata.namespace ?? '')
    .map(keyOfObject)
}

async function reconcile(
  key: string,
  { context, counts }: { context: ControllerContext; counts: ObjectCounts },
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const quota = context.informer(resources.resourceQuotas).get(parseKey(key))
  if (!quota || quota.metadata.deletionTimestamp) return
  const hard = quota.spec?.hard ?? {}
  const watched = watchedUsage(quota, context)
  const counted = await countedUsage(quota, watched, { context, counts }, signal)
  const used = Object.fromEntries(
    Object.keys(hard).map((name) => [
      name,
      canonicalQuantity(watched[name] ?? counted[name] ?? '0'),
    ]),
  )
  const status = { hard, used }
  if (!sameQuotaStatus(quota, status)) {
    await context.client(resources.resourceQuotas).updateStatus({ ...quota, status }, signal)
  }
  // Kinds may be served later, so missing ones are looked for sooner.
  const isComplete = countedNames(quota).every((name) => name in watched || name in counted)
  const againMs = isComplete ? recountMs : absentMs
  return { requeueAfterMs: againMs * (1 + 0.1 * context.random.next()) }
}

/** An empty status and one of zeros differ, because admission reads each name. */
function sameQuotaStatus({ status }: ResourceQuota, next: NonNullable<ResourceQuota['status']>) {
  const names = (list: object = {}): string => Object.keys(list).toSorted().join()
  return sameStatus(status, next) && names(status?.used) === names(next.used)
}

function watchedUsage(quota: ResourceQuota, context: ControllerContext): ResourceList {
  const { namespace = '' } = quota.metadata
  const { pods, services, persistentVolumeClaims } = resources
  const nowMs = context.clock.now()
  let sum: ResourceList = {}
  const addAll = (resource: ResourceRef, users: readonly QuotaUser[]): void => {
    for (const user of users) {
      if (isInQuotaScopes(quota, user)) sum = addLists(sum, quotaUsage(resource, user, nowMs))
    }
  }
  addAll(
    pods,
    context
      .informer(pods)
      .list(namespace)
      .map((pod) => ({ pod })),
  )
  addAll(
    services,
    context
      .informer(services)
      .list(namespace)
      .map((service) => ({ service })),
  )
  addAll(
    persistentVolumeClaims,
    context
      .informer(persistentVolumeClaims)
      .list(namespace)
      .map((claim) => ({ claim })),
  )
  return sum
}

/** Counts objects for limits on plain numbers: `count/<resource>.<group>` and a few short names. */
async function countedUsage(
  quota: ResourceQuota,
  known: ResourceList,
  { context, counts }: { context: ControllerContext; counts: ObjectCounts },
  signal: AbortSignal,
): Promise<ResourceList> {
  const usage: Record<string, string> = {}
  for (const name of countedNames(quota)) {
    if (name in known) continue
    const { namespace = '' } = quota.metadata
    const kind = kindOfName(name)
    const count =
      kind === undefined
        ? await counts.count(name, namespace, signal)
        : context.informer(kind).list(namespace).length
    if (count !== undefined) usage[name] = String(count)
  }
  return usage
}

/** Names of objects that use more than their number; none is set if they are not known. */
const watchedNames = new Set(['count/pods', 'count/services', 'count/persistentvolumeclaims'])

function countedNames(quota: ResourceQuota): string[] {
  if (hasQuotaScopes(quota)) return []
  return Object.keys(quota.spec?.hard ?? {}).filter(
    (name) => !watchedNames.has(name) && (isObjectCount(name) || kindOfName(name)),
  )
}

function kindOfName(name: string): KnownResource<PartialObject> | undefined {
  return countedKinds.find((each) => namesOf(each).includes(name))
}

function namesOf({ group, resource }: ResourceRef): string[] {
  return group === '' ? [resource, `count/${resource}`] : [`count/${resource}.${group}`]
}
