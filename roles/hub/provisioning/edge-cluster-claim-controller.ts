import type { ConfigMap } from '@skerry/api'
import { ifThere, keyOfObject, parseKey, resources } from '@skerry/client'
import {
  selected,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { clusterResource } from '@skerry/fleet-kinds'
import { edgeClusterResource } from '@skerry/provisioning'
import { shutOut } from '../../admin/strike-off.ts'
import { claimLabel, claimNamespace, claimOf } from './cluster-claim.ts'

const claims = selected(resources.configMaps, {
  namespace: claimNamespace,
  labelSelector: claimLabel,
})

/**
 * Gives names free whose EdgeCluster has gone without its removal, because somebody took its finalizer away. A cluster
 * that is on the hub stays there with its agent's rights: from then on it is one like those that were never claimed.
 */
export const edgeClusterClaimController: ControllerDefinition = {
  name: 'edge-cluster-claim-controller',
  workers: 1,
  watches: [
    watch(claims, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
    watch(edgeClusterResource, {
      keysOf: ({ type, object }, context) =>
        type === 'deleted' ? claimsOf(object.metadata.uid, context) : [],
    }),
  ],
  reconcile: release,
}

function claimsOf(uid: string | undefined, context: ControllerContext): string[] {
  const all = context.informer(claims).list()
  return all.filter((claim) => claimOf(claim)?.uid === uid).map(keyOfObject)
}

async function release(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock, log } = context
  const claim: ConfigMap | undefined = context.informer(claims).get(parseKey(key))
  const owner = claim && claimOf(claim)
  if (claim === undefined || owner === undefined) return
  // The informer may be behind an EdgeCluster that was made a moment ago.
  const { namespace, name, uid, clusterName } = owner
  const edges = cluster.resource(edgeClusterResource)
  const found = await ifThere(edges.get({ namespace, name }, signal))
  if (found?.metadata.uid === uid) return
  const clusters = cluster.resource(clusterResource)
  if ((await ifThere(clusters.get({ name: clusterName }, signal))) === undefined) {
    await shutOut(cluster, { name: clusterName, nowMs: clock.now() }, signal)
  }
  const { resourceVersion = '' } = claim.metadata
  const at = { ...parseKey(key), preconditions: { resourceVersion } }
  await ifThere(cluster.resource(resources.configMaps).delete(at, signal))
  log.info('Name of a cluster is free: its EdgeCluster has gone', { cluster: clusterName })
}
