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
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  type Watch,
} from '@skerry/controller-runtime'
import { sameStatus } from '../status/same-status.ts'

/** Everything is counted anew this often. */
const recountMs = 300_000
/** Kinds that are counted and that nobody in this process watches are counted this often. */
const pollMs = 10_000
/** One look for many changes. */
const changeDelayMs = 500

/**
 * Kinds that are counted at once when one comes or goes: those that other controllers watch anyway,
 * so that their informers cost nothing here.
 */
const countedKinds: readonly KnownResource<PartialObject>[] = Object.freeze([
  resources.configMaps,
  resources.secrets,
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

/** Writes what a namespace uses into the status of its quotas. Admission keeps to the limits. */
export const resourceQuotaController: ControllerDefinition = {
  name: 'resourcequota-controller',
  watches: [
    watch(resources.resourceQuotas, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watchUsers(resources.pods),
    watchUsers(resources.services),
    watchUsers(resources.persistentVolumeClaims),
    ...countedKinds.map(watchCounted),
  ],
  reconcile,
}

function watchUsers<T extends PartialObject>(resource: KnownResource<T>): Watch {
  return watch(resource, { keysOf: quotasOfNamespace, delayMs: changeDelayMs })
}

/** Only how many there are matters. */
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
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const quota = context.informer(resources.resourceQuotas).get(parseKey(key))
  if (!quota || quota.metadata.deletionTimestamp) return
  const hard = quota.spec?.hard ?? {}
  const watched = watchedUsage(quota, context)
  const counted = await countedUsage(quota, watched, context, signal)
  const used = Object.fromEntries(
    Object.keys(hard).map((name) => [
      name,
      canonicalQuantity(watched[name] ?? counted.usage[name] ?? '0'),
    ]),
  )
  const status = { hard, used }
  if (!sameQuotaStatus(quota, status)) {
    await context.client(resources.resourceQuotas).updateStatus({ ...quota, status }, signal)
  }
  return {
    requeueAfterMs: counted.isPolled ? pollMs : recountMs * (1 + 0.1 * context.random.next()),
  }
}

/** An empty status and one of zeros differ: admission asks for each name. */
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

interface Counted {
  usage: ResourceList
  /** Something was counted that nobody here watches. */
  isPolled: boolean
}

/** Limits on plain numbers of objects: `count/<resource>.<group>` and a few short names. */
async function countedUsage(
  quota: ResourceQuota,
  known: ResourceList,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Counted> {
  const usage: Record<string, string> = {}
  if (hasQuotaScopes(quota)) return { usage, isPolled: false }
  let isPolled = false
  for (const name of Object.keys(quota.spec?.hard ?? {})) {
    if (name in known) continue
    const { namespace = '' } = quota.metadata
    const kind = countedKinds.find((each) => namesOf(each).includes(name))
    if (kind !== undefined) {
      usage[name] = String(context.informer(kind).list(namespace).length)
    } else if (name.startsWith('count/') && !watchedNames.has(name)) {
      const resource = await servedAs(name, context, signal)
      if (resource === undefined) continue
      usage[name] = String(await countOnServer(resource, namespace, context, signal))
      isPolled = true
    }
  }
  return { usage, isPolled }
}

/** Those of objects that use more than their number; none is there when they are not known. */
const watchedNames = new Set(['count/pods', 'count/services', 'count/persistentvolumeclaims'])

function namesOf({ group, resource }: ResourceRef): string[] {
  return group === '' ? [resource, `count/${resource}`] : [`count/${resource}.${group}`]
}

async function servedAs(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ResourceRef | undefined> {
  const [resource = '', ...group] = name.slice('count/'.length).split('.')
  const discovery = await context.cluster.discover(signal)
  return discovery.resources.find(
    (each) => each.resource === resource && each.group === group.join('.') && each.isPreferred,
  )
}

async function countOnServer(
  resource: ResourceRef,
  namespace: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<number> {
  let objects = 0
  for await (const page of context.cluster.metadata(resource).pages({ namespace }, signal)) {
    objects += page.items.length
  }
  return objects
}
