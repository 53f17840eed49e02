import { isStatusError } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import {
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { executionFinalizer, workResource } from '@skerry/karmada-kinds'
import {
  childrenSelector,
  clusterNamespace,
  clusterResource,
  executionNamespace,
  type Cluster,
} from '@skerry/fleet-kinds'
import { writeFinalizers } from './write-finalizers.ts'

/** Karmada's finalizer: while a Cluster has it, the cluster's objects are still being deleted. */
export const clusterFinalizer = 'karmada.io/cluster-controller'

/** Creates each Cluster's execution namespace, and deletes that namespace and the lease with the Cluster. */
export const clusterController: ControllerDefinition = {
  name: 'cluster-controller',
  watches: [
    watch(clusterResource, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [object.metadata.name ?? '']),
    }),
  ],
  async reconcile(name, context, signal) {
    const cluster = context.informer(clusterResource).get({ name })
    if (cluster === undefined) return
    if (cluster.metadata.deletionTimestamp) return remove(cluster, context, signal)
    const finalizers = cluster.metadata.finalizers ?? []
    if (finalizers.includes(clusterFinalizer)) return
    await ensureNamespace(executionNamespace(name), context, signal)
    await writeFinalizers(cluster, [...finalizers, clusterFinalizer], context, signal)
  },
}

async function remove(
  cluster: Cluster,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', finalizers = [] } = cluster.metadata
  if (!finalizers.includes(clusterFinalizer)) return
  const namespaces = context.client(resources.namespaces)
  await releaseWorks(executionNamespace(name), context, signal)
  await ifThere(namespaces.delete({ name: executionNamespace(name) }, signal))
  // This covers Works that were created in between.
  await releaseWorks(executionNamespace(name), context, signal)
  await removeChildren(name, context, signal)
  const leases = context.client(resources.leases)
  await ifThere(leases.delete({ namespace: clusterNamespace, name }, signal))
  const rest = finalizers.filter((each) => each !== clusterFinalizer)
  await writeFinalizers(cluster, rest, context, signal)
}

/** Deletes virtual clusters whose parent is gone, because no agent answers for them. */
async function removeChildren(
  parent: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const clusters = context.client(clusterResource)
  const { items } = await clusters.list({ labelSelector: childrenSelector(parent) }, signal)
  for (const { metadata } of items) {
    if (metadata.deletionTimestamp) continue
    await ifThere(clusters.delete({ name: metadata.name ?? '' }, signal))
  }
}

/**
 * A cluster that leaves the fleet keeps its objects, whether it is reached or not: to strike a name off a
 * list must not stop what runs there. (Karmada has them deleted where the cluster is ready.)
 */
async function releaseWorks(
  namespace: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const works = context.client(workResource)
  const { items } = await works.list({ namespace }, signal)
  for (const work of items) {
    const held = { object: work, resource: workResource, finalizer: executionFinalizer }
    await dropFinalizer(held, context, signal)
  }
}

async function ensureNamespace(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const namespaces = context.client(resources.namespaces)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  try {
    await namespaces.create(namespace, signal)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}
