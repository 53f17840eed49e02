import { quantityOf, type Quantity, type ResourceQuota } from '@skerry/api'
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
} from '@skerry/controller-runtime'
import { sameStatus } from '../status/same-status.ts'
import { hasScopes, isInScope } from './quota-scope.ts'
import {
  addUsage,
  claimUsage,
  podUsage,
  serviceUsage,
  totalUsage,
  usedOf,
  type Usage,
} from './resource-usage.ts'

/** Kinds that are only counted have no informer: they are counted anew this often. */
const recountMs = 300_000
/** One look for many changes. */
const changeDelayMs = 500

/** Names of limits that mean the number of objects of a resource. */
const countedNames: Readonly<Record<string, ResourceRef>> = Object.freeze({
  configmaps: resources.configMaps,
  secrets: resources.secrets,
  replicationcontrollers: resources.replicationControllers,
  resourcequotas: resources.resourceQuotas,
})

/** Writes what a namespace uses into the status of its quotas. Admission keeps to the limits. */
export const resourceQuotaController: ControllerDefinition = {
  name: 'resourcequota-controller',
  watches: [
    watch(resources.resourceQuotas, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watchUsers(resources.pods),
    watchUsers(resources.services),
    watchUsers(resources.persistentVolumeClaims),
  ],
  reconcile,
}

function watchUsers<T extends PartialObject>(resource: KnownResource<T>) {
  return watch(resource, { keysOf: quotasOfNamespace, delayMs: changeDelayMs })
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
  const status = { hard, used: usedOf(addUsage(watched, counted), hard) }
  if (!sameStatus(quota.status, status)) {
    await context.client(resources.resourceQuotas).updateStatus({ ...quota, status }, signal)
  }
  return { requeueAfterMs: recountMs * (1 + 0.1 * context.random.next()) }
}

function watchedUsage(quota: ResourceQuota, context: ControllerContext): Usage {
  const { namespace = '' } = quota.metadata
  const pods = context.informer(resources.pods).list(namespace)
  const ofPods = totalUsage(pods.filter((pod) => isInScope(quota, pod)).map(podUsage))
  if (hasScopes(quota)) return ofPods
  const services = context.informer(resources.services).list(namespace)
  const claims = context.informer(resources.persistentVolumeClaims).list(namespace)
  return totalUsage([ofPods, ...services.map(serviceUsage), ...claims.map(claimUsage)])
}

/** Limits on plain numbers of objects: `count/<resource>.<group>` and a few short names. */
async function countedUsage(
  quota: ResourceQuota,
  known: Usage,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Usage> {
  const usage = new Map<string, Quantity>()
  if (hasScopes(quota)) return usage
  const names = Object.keys(quota.spec?.hard ?? {}).filter((name) => !known.has(name))
  const isDiscoveryNeeded = names.some((name) => name.startsWith('count/'))
  const discovery = isDiscoveryNeeded ? await context.cluster.discover(signal) : undefined
  for (const name of names) {
    const [resource = '', ...group] = name.replace(/^count\//, '').split('.')
    const found = name.startsWith('count/')
      ? discovery?.resources.find(
          (each) =>
            each.resource === resource && each.group === group.join('.') && each.isPreferred,
        )
      : countedNames[name]
    if (!found) continue
    usage.set(name, quantityOf(await count(found, quota, context, signal)))
  }
  return usage
}

async function count(
  resource: ResourceRef,
  quota: ResourceQuota,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<number> {
  const { namespace = '' } = quota.metadata
  let objects = 0
  for await (const page of context.cluster.metadata(resource).pages({ namespace }, signal)) {
    objects += page.items.length
  }
  return objects
}
