import { isStatusError, toleratesTaint, type Node, type Pod, type Taint } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { markDisrupted } from '../pods/disruption-target.ts'

const byNode = 'taint-eviction-by-node'

/** Evicts pods from nodes whose NoExecute taints they do not tolerate, or no longer. */
export const taintEvictionController: ControllerDefinition = {
  name: 'taint-eviction-controller',
  watches: [
    watch(resources.pods, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
      indexes: { [byNode]: (pod) => [pod.spec?.nodeName ?? ''] },
    }),
    watch(resources.nodes, {
      keysOf: ({ type, object, old }, context) =>
        type !== 'deleted' && taintsKey(old) !== taintsKey(object)
          ? context
              .informer(resources.pods)
              .byIndex(byNode, object.metadata.name ?? '')
              .map(keyOfObject)
          : [],
    }),
  ],
  reconcile,
}

function taintsKey(node: Node | undefined): string {
  return JSON.stringify(noExecuteTaints(node))
}

function noExecuteTaints(node: Node | undefined): Taint[] {
  return (node?.spec?.taints ?? []).filter((taint) => taint.effect === 'NoExecute')
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<{ requeueAfterMs?: number } | void> {
  const pod = context.informer(resources.pods).get(parseKey(key))
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return
  const nodeName = pod.spec?.nodeName ?? ''
  const node =
    nodeName === '' ? undefined : context.informer(resources.nodes).get({ name: nodeName })
  const evictInMs = planEviction(pod, noExecuteTaints(node), context.clock.now())
  if (evictInMs === undefined) return
  if (evictInMs > 0) return { requeueAfterMs: evictInMs }
  context.events.event(pod, {
    type: 'Normal',
    reason: 'TaintManagerEviction',
    message: `Marking for deletion Pod ${key}`,
  })
  const { namespace, name = '', uid } = pod.metadata
  try {
    const text = {
      reason: 'DeletionByTaintManager' as const,
      message: 'Taint manager: deleting due to NoExecute taint',
      nowMs: context.clock.now(),
    }
    await markDisrupted(pod, text, context.client(resources.pods), signal)
    await context.client(resources.pods).delete({ namespace, name, preconditions: { uid } }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
  }
}

/** Milliseconds until the pod must go, 0 for now; undefined when it may stay. */
export function planEviction(
  pod: Pod,
  taints: readonly Taint[],
  nowMs: number,
): number | undefined {
  let evictInMs: number | undefined
  for (const taint of taints) {
    const tolerating = (pod.spec?.tolerations ?? []).filter((each) => toleratesTaint(each, taint))
    if (tolerating.length === 0) return 0
    const seconds = tolerating.map((each) => each.tolerationSeconds ?? Infinity)
    const least = Math.max(0, Math.min(...seconds))
    if (least === Infinity) continue
    const addedMs = taint.timeAdded === undefined ? nowMs : Date.parse(taint.timeAdded)
    const leftMs = Math.max(0, addedMs + least * 1_000 - nowMs)
    evictInMs = Math.min(evictInMs ?? Infinity, leftMs)
  }
  return evictInMs
}
