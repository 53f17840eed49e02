import { isStatusError, toleratesTaint, type Node, type Pod, type Taint } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  runController,
  watch,
  type BackgroundController,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { markDisrupted } from '../pods/disruption-target.ts'
import { isCalledDead } from './neighbours-condition.ts'
import { addedMs, planEviction, type Sightings } from './plan-eviction.ts'

const byNode = 'taint-eviction-by-node'

/** Evicts pods from nodes whose NoExecute taints they do not tolerate, or no longer tolerate. */
export const taintEvictionController: BackgroundController = {
  name: 'taint-eviction-controller',
  run: (deps, signal) => runController(evictingController(), deps, signal),
}

function evictingController(): ControllerDefinition {
  // The pods whose eviction is scheduled, and since when the time runs for each taint. If the
  // eviction is cancelled, an event is recorded.
  const scheduled = new Map<string, Sightings>()
  return {
    name: 'taint-eviction-controller',
    watches: [
      watch(resources.pods, {
        keysOf: ({ type, object }) =>
          type !== 'deleted' || scheduled.has(keyOfObject(object)) ? [keyOfObject(object)] : [],
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
    reconcile: (key, context, signal) => reconcile(key, { context, scheduled }, signal),
  }
}

function taintsKey(node: Node | undefined): string {
  return JSON.stringify([noExecuteTaints(node), isCalledDead(node)])
}

function noExecuteTaints(node: Node | undefined): Taint[] {
  return (node?.spec?.taints ?? []).filter((taint) => taint.effect === 'NoExecute')
}

async function reconcile(
  key: string,
  { context, scheduled }: { context: ControllerContext; scheduled: Map<string, Sightings> },
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const known = context.informer(resources.pods).get(parseKey(key))
  const pod = known?.metadata.deletionTimestamp === undefined ? known : undefined
  const node = pod && nodeOf(pod, context)
  const taints = noExecuteTaints(node)
  const { clock } = context
  const seen: Sightings = new Map(
    taints.map((taint) => {
      const text = JSON.stringify(taint)
      return [text, scheduled.get(key)?.get(text) ?? addedMs(taint, clock)]
    }),
  )
  const sinceMs = (taint: Taint): number => seen.get(JSON.stringify(taint)) ?? clock.monotonicMs()
  const times = { nowMs: clock.monotonicMs(), sinceMs, isDead: isCalledDead(node) }
  const evictInMs = pod && planEviction(pod, taints, times)
  if (evictInMs !== undefined && evictInMs > 0) {
    scheduled.set(key, seen)
    return { requeueAfterMs: evictInMs }
  }
  const isDue = evictInMs === 0 && taints.every((taint) => isTolerated(pod, taint))
  if (scheduled.delete(key) && !isDue) tell(key, `Cancelling deletion of Pod ${key}`, context)
  if (pod && evictInMs === 0) await evict(pod, context, signal)
}

function nodeOf({ spec }: Pod, context: ControllerContext): Node | undefined {
  return spec?.nodeName ? context.informer(resources.nodes).get({ name: spec.nodeName }) : undefined
}

function isTolerated(pod: Pod | undefined, taint: Taint): boolean {
  return (pod?.spec?.tolerations ?? []).some((each) => toleratesTaint(each, taint))
}

/** The pod may be gone; the event only needs its name. */
function tell(key: string, message: string, context: ControllerContext): void {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...parseKey(key) } }
  context.events.event(pod, { type: 'Normal', reason: 'TaintManagerEviction', message })
}

async function evict(pod: Pod, context: ControllerContext, signal: AbortSignal): Promise<void> {
  const key = keyOfObject(pod)
  tell(key, `Marking for deletion Pod ${key}`, context)
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
