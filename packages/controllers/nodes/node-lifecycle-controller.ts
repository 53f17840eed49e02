import { asError } from '@skerry/base'
import { isStatusError, type Node, type Pod } from '@skerry/api'
import { keyOfObject, resources } from '@skerry/client'
import type { BackgroundController, ControllerDeps } from '@skerry/controller-runtime'
import { podCondition } from '../pods/pod-state.ts'
import { timestamp } from '../status/timestamp.ts'
import { EvictionPace, planEvictions, zoneOf, type Evictions } from './zone-disruption.ts'
import {
  heartbeatSign,
  isBeingEmptied,
  planTaints,
  silentConditions,
  type Heartbeat,
  type NoExecute,
} from './node-health.ts'
import { nodeHealthDefaults } from '../limits-table.ts'
import { isHandedOver } from './handed-over.ts'

const byNode = 'node-lifecycle-by-node'

/**
 * Distinguishes live nodes from silent ones, taints them accordingly, and marks the pods of silent
 * ones not ready.
 */
export const nodeLifecycleController: BackgroundController = {
  name: 'node-lifecycle-controller',
  async run(deps, signal) {
    const heartbeats = new Map<string, Heartbeat>()
    const pace = new EvictionPace()
    const nodes = deps.informers.informer(resources.nodes)
    const leases = deps.informers.informer(resources.leases)
    const pods = deps.informers.informer(resources.pods)
    pods.addIndex(byNode, (pod) => [pod.spec?.nodeName ?? ''])
    await Promise.all([nodes, leases, pods].map((each) => each.whenSynced(signal)))
    const checks = createWake(deps)
    using _nodes = nodes.onChange(({ type }) => type !== 'deleted' && checks.soon())
    for (;;) {
      // All nodes are judged before any is tainted: if all fell silent, this process is the one
      // that is cut off.
      const judged: Node[] = []
      const own = nodes.list().filter((node) => !isHandedOver(node))
      for (const node of own) judged.push(await judgeNode(node, heartbeats, deps, signal))
      const evictions = planEvictions(judged)
      for (const node of judged) await checkNode({ node, evictions, pace }, deps, signal)
      const known = new Set(judged.map(({ metadata }) => metadata.name ?? ''))
      for (const name of heartbeats.keys()) if (!known.has(name)) heartbeats.delete(name)
      await checks.wait(signal)
    }
  },
}

/** Waits until the next round, or less if a node changed. */
function createWake(deps: ControllerDeps): {
  soon: () => void
  wait: (signal: AbortSignal) => Promise<void>
} {
  const settleMs = 100
  let wake: (() => void) | undefined
  let isWanted = false
  return {
    soon: () => {
      isWanted = true
      wake?.()
    },
    async wait(signal) {
      if (isWanted) await deps.clock.sleep(settleMs, signal)
      else {
        using scope = new DisposableStack()
        await new Promise<void>((resolve, reject) => {
          wake = resolve
          scope.use(deps.clock.setTimer(nodeHealthDefaults.checkMs, resolve))
          const onAbort = (): void => reject(signal.reason)
          if (signal.aborted) return onAbort()
          signal.addEventListener('abort', onAbort, { once: true })
          scope.defer(() => signal.removeEventListener('abort', onAbort))
        })
        wake = undefined
      }
      isWanted = false
    },
  }
}

interface Checking {
  node: Node
  evictions: Evictions
  pace: EvictionPace
}

/** Returns the node's current state, with its conditions updated if it fell silent. */
async function judgeNode(
  node: Node,
  heartbeats: Map<string, Heartbeat>,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<Node> {
  if (!isSilent(node, heartbeats, deps)) return node
  const marked = await tryOn(node, () => markSilent(node, deps, signal), { deps, signal })
  return marked ?? node
}

async function checkNode(
  { node, evictions, pace }: Checking,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const check = async (): Promise<void> => {
    const noExecute = noExecuteFor(node, { evictions, pace, nowMs: deps.clock.monotonicMs() })
    await writeTaints({ node, noExecute }, deps, signal)
    if (isUnready(node)) await markPodsNotReady(node, deps, signal)
  }
  await tryOn(node, check, { deps, signal })
}

/** A failure for one node must not delay the others; the next round tries again. */
async function tryOn<T>(
  node: Node,
  act: () => Promise<T>,
  { deps, signal }: { deps: ControllerDeps; signal: AbortSignal },
): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return undefined
    deps.log.error('Node not checked, trying again', {
      node: node.metadata.name,
      error: asError(error),
    })
    return undefined
  }
}

function isSilent(node: Node, heartbeats: Map<string, Heartbeat>, deps: ControllerDeps): boolean {
  const name = node.metadata.name ?? ''
  const lease = deps.informers
    .informer(resources.leases)
    .get({ namespace: 'kube-node-lease', name })
  const sign = heartbeatSign(node, lease)
  const nowMs = deps.clock.monotonicMs()
  const known = heartbeats.get(name)
  if (known === undefined || known.sign !== sign) {
    heartbeats.set(name, { sign, seenMs: nowMs })
    return false
  }
  const { graceMs, startupGraceMs } = nodeHealthDefaults
  return nowMs - known.seenMs > (sign.trim() === '' ? startupGraceMs : graceMs)
}

async function markSilent(node: Node, deps: ControllerDeps, signal: AbortSignal): Promise<Node> {
  const conditions = silentConditions(node, timestamp(deps.clock.now()))
  if (conditions === undefined) return node
  deps.log.info('Node fell silent', { node: node.metadata.name })
  deps.events.recorder({ component: 'node-controller' }).event(node, {
    type: 'Normal',
    reason: 'NodeNotReady',
    message: `Node ${node.metadata.name} status is now: NodeNotReady`,
  })
  return deps.informers
    .client(resources.nodes)
    .patchStatus(
      { type: 'strategic', name: node.metadata.name ?? '', patch: { status: { conditions } } },
      signal,
    )
}

/** A node whose pods must be evicted waits for its turn. */
function noExecuteFor(
  node: Node,
  { evictions, pace, nowMs }: { evictions: Evictions; pace: EvictionPace; nowMs: number },
): NoExecute {
  if (evictions.areStopped) return 'stopped'
  if (!isUnready(node) || isBeingEmptied(node)) return 'kept'
  const rate = evictions.rates.get(zoneOf(node)) ?? 0
  return pace.take(zoneOf(node), { rate, nowMs }) ? 'allowed' : 'kept'
}

async function writeTaints(
  { node, noExecute }: { node: Node; noExecute: NoExecute },
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const taints = planTaints(node, timestamp(deps.clock.now()), noExecute)
  if (taints === undefined) return
  // The patch carries the version it was planned from, because taints are one list with several
  // writers.
  const patch = { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { taints } }
  await deps.informers
    .client(resources.nodes)
    .patch({ type: 'merge', name: node.metadata.name ?? '', patch }, signal)
}

function isUnready(node: Node): boolean {
  return (node.status?.conditions ?? []).some(
    (each) => each.type === 'Ready' && each.status !== 'True',
  )
}

/** Makes services stop sending traffic to a node that does not answer. */
async function markPodsNotReady(
  node: Node,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const pods = deps.informers.informer(resources.pods).byIndex(byNode, node.metadata.name ?? '')
  for (const pod of pods) {
    if (podCondition(pod, 'Ready')?.status !== 'True') continue
    await markNotReady(pod, deps, signal)
  }
}

async function markNotReady(pod: Pod, deps: ControllerDeps, signal: AbortSignal): Promise<void> {
  const condition = {
    ...podCondition(pod, 'Ready'),
    status: 'False',
    lastTransitionTime: timestamp(deps.clock.now()),
  }
  const { namespace, name = '' } = pod.metadata
  try {
    await deps.informers
      .client(resources.pods)
      .patchStatus(
        { type: 'strategic', namespace, name, patch: { status: { conditions: [condition] } } },
        signal,
      )
    deps.log.debug('Pod marked not ready', { pod: keyOfObject(pod) })
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
