import { isStatusError, type Node, type Pod } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type Watch,
} from '@skerry/controller-runtime'
import type { EdgeObserver } from '@skerry/cluster-agent'
import { groupLabel } from '@skerry/fleet-kinds'
import type { EdgeNames } from '../view/edge-names.ts'
import type { GroupState } from './group-state.ts'
import { virtualClusterBounds } from '../limits-table.ts'

const { settleMs, evictionRetryMs } = virtualClusterBounds.nodeGroupController
const all = 'groups'

/** Labels each node with its group, and removes the label from nodes without one. */
export function nodeGroupController(state: GroupState): ControllerDefinition {
  return {
    name: 'node-group-controller',
    workers: 1,
    watches: [
      {
        resource: resources.nodes,
        subscribe(context, enqueue) {
          enqueue(all)
          return state.onChange(() => context.requeueAfter(all, settleMs))
        },
      },
    ],
    async reconcile(_key, context, signal) {
      if (!state.isKnown()) return { requeueAfterMs: settleMs }
      for (const [name, group] of state.plan().labels) {
        const patch = { metadata: { labels: { [groupLabel]: group ?? null } } }
        try {
          await context.client(resources.nodes).patch({ name, type: 'merge', patch }, signal)
        } catch (error) {
          // The node was deleted in the meantime.
          if (!isStatusError(error, 'NotFound')) throw error
        }
        context.log.info('Node changed its group', { node: name, group: group ?? 'none' })
      }
    },
  }
}

/**
 * Evicts pods of virtual clusters from nodes that have left their group. A node selector only applies while a
 * pod is being placed.
 */
export function strangerController(
  state: GroupState,
  observer: Pick<EdgeObserver, 'podsOn'>,
  edge: Pick<EdgeNames, 'ownerOf' | 'whenKnown'>,
): ControllerDefinition {
  return {
    name: 'virtual-cluster-eviction-controller',
    watches: [
      watch(resources.pods, {
        keysOf: ({ type, object }) =>
          type !== 'deleted' && isPlacedByGroup(object) ? [keyOfObject(object)] : [],
      }),
      watch(resources.nodes, {
        keysOf: ({ type, object, old }) =>
          type === 'deleted' || groupIn(object) === (old && groupIn(old))
            ? []
            : observer
                .podsOn(object.metadata.name ?? '')
                .filter(isPlacedByGroup)
                .map(keyOfObject),
      }),
      regrouping(state, observer),
    ],
    queue: { maxDelayMs: evictionRetryMs },
    async reconcile(key, context, signal) {
      const pod = context.informer(resources.pods).get(parseKey(key))
      if (pod === undefined || !state.isKnown() || !isStranger(pod, state, context)) return
      await edge.whenKnown(signal)
      // The edge's own pods may select a group, too, and are for its operator to move.
      if (edge.ownerOf(pod.metadata.namespace ?? '')?.cluster === undefined) return
      await evict(pod, context, signal)
    },
  }
}

/** Enqueues the pods of nodes that are about to change their group. */
function regrouping(state: GroupState, observer: Pick<EdgeObserver, 'podsOn'>): Watch {
  return {
    resource: resources.nodes,
    subscribe: (_context, enqueue) =>
      state.onChange(() => {
        for (const node of state.plan().labels.keys()) {
          for (const pod of observer.podsOn(node)) {
            if (isPlacedByGroup(pod)) enqueue(keyOfObject(pod))
          }
        }
      }),
  }
}

function groupIn({ metadata }: Node): string | undefined {
  return metadata.labels?.[groupLabel]
}

function isPlacedByGroup({ spec }: Pod): boolean {
  return Boolean(spec?.nodeName) && spec?.nodeSelector?.[groupLabel] !== undefined
}

function isStranger(pod: Pod, state: GroupState, context: ControllerContext): boolean {
  const { phase } = pod.status ?? {}
  if (pod.metadata.deletionTimestamp || phase === 'Succeeded' || phase === 'Failed') return false
  const node = context.informer(resources.nodes).get({ name: pod.spec?.nodeName ?? '' })
  // A node that is gone takes its pods with it, by the cluster's own garbage collector.
  return node !== undefined && state.groupOf(node) !== pod.spec?.nodeSelector?.[groupLabel]
}

async function evict(
  { metadata, spec }: Pod,
  { cluster, log }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid } = metadata
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: uid === undefined ? {} : { preconditions: { uid } },
  }
  try {
    await cluster
      .resource(resources.pods)
      .createSubresource({ namespace, name, subresource: 'eviction', body }, signal)
    log.info('Evicted pod from a node that left its group', {
      pod: `${namespace}/${name}`,
      node: spec?.nodeName ?? '',
    })
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
