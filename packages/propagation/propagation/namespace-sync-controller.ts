import { messageOf } from '@skerry/base'
import type { AnyObject } from '@skerry/api'
import { resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import {
  bindingName,
  pruned,
  clusterOverridePolicyResource,
  workResource,
} from '@skerry/karmada-kinds'
import { clusterResource } from '@skerry/fleet-kinds'
import { clusterBindings, namespacedBindings } from './binding-scope.ts'
import { targetsOf } from './binding-targets.ts'
import { memberCluster, overriddenManifest } from './cluster-manifest.ts'
import { plannedNamespaceWork } from './plan-work.ts'
import { isOwnNamespace } from './reserved-objects.ts'
import { writeWork } from './write-work.ts'

/** The label of a namespace; `true` keeps it from being created in clusters automatically. */
const skipLabel = 'namespace.karmada.io/skip-auto-propagation'

/**
 * A namespace is in each cluster that has something of it. It stays there until it is deleted on the
 * hub: what the cluster's own people have put into it is not to go with the last object of the hub.
 */
export const namespaceSyncController: ControllerDefinition = {
  name: 'namespace-sync-controller',
  watches: [
    watch(namespacedBindings.resource, {
      keysOf: ({ type, object, old }) =>
        type === 'deleted' || object.metadata.generation === old?.metadata.generation
          ? []
          : [object.metadata.namespace ?? ''],
    }),
    watch(resources.namespaces, {
      keysOf: ({ type, object, old }) =>
        type === 'deleted' || object.metadata.resourceVersion === old?.metadata.resourceVersion
          ? []
          : [object.metadata.name ?? ''],
    }),
    watch(clusterOverridePolicyResource, {
      keysOf: (_change, context) =>
        context
          .informer(resources.namespaces)
          .list()
          .map(({ metadata }) => metadata.name ?? ''),
    }),
    watch(clusterResource, {
      keysOf: ({ type }, context) =>
        type === 'added'
          ? context
              .informer(resources.namespaces)
              .list()
              .map(({ metadata }) => metadata.name ?? '')
          : [],
    }),
    watch(clusterBindings.resource, {
      keysOf: ({ type, object: { spec } }) =>
        type === 'deleted' && spec.resource.kind === 'Namespace' ? [spec.resource.name] : [],
    }),
    // A Work that somebody deleted is recreated.
    watch(workResource, {
      keysOf: ({ type, object: { metadata } }) =>
        type === 'deleted'
          ? (metadata.ownerReferences ?? [])
              .filter(({ kind }) => kind === 'Namespace')
              .map(({ name }) => name)
          : [],
    }),
  ],
  async reconcile(name, context, signal) {
    const namespace = context.informer(resources.namespaces).get({ name })
    if (namespace === undefined) return
    const template: AnyObject = { ...namespace, apiVersion: 'v1', kind: 'Namespace' }
    if (!isToSend(template, context)) return
    const policies = context.informer(clusterOverridePolicyResource).list()
    const failures: string[] = []
    for (const target of clustersOf(name, context)) {
      const cluster = memberCluster(target, context)
      if (cluster === undefined) continue
      try {
        const { manifest, overrides } = overriddenManifest(pruned(template), cluster, { policies })
        const planned = plannedNamespaceWork(template, manifest, { cluster: target, overrides })
        await writeWork(planned, context, signal)
      } catch (error) {
        // The others have theirs all the same.
        signal.throwIfAborted()
        const why = messageOf(error)
        failures.push(`cluster "${target}": ${why}`)
      }
    }
    if (failures.length === 0) return
    throw new Error(`Cannot write Works of namespace "${name}": ${failures.join('; ')}`)
  },
}

/** Reports whether an object is a namespace that goes to every cluster that gets one of its objects. */
export function isSentAlong({ apiVersion, kind, metadata }: AnyObject): boolean {
  const { name = '', labels = {}, deletionTimestamp } = metadata
  if (apiVersion !== 'v1' || kind !== 'Namespace') return false
  if (deletionTimestamp || !isOwnNamespace(name)) return false
  return labels[skipLabel]?.toLowerCase() !== 'true'
}

function isToSend(template: AnyObject, context: ControllerContext): boolean {
  if (!isSentAlong(template)) return false
  const { name = '' } = template.metadata
  // A policy that selects the namespace itself decides on it.
  const own = { name: bindingName('Namespace', name) }
  return context.informer(clusterBindings.resource).get(own) === undefined
}

function clustersOf(namespace: string, context: ControllerContext): Set<string> {
  const bindings = context.informer(namespacedBindings.resource).list(namespace)
  return new Set(bindings.flatMap(({ spec }) => targetsOf(spec).map(({ name }) => name)))
}
