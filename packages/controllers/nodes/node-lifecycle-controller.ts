import { asError } from '@skerry/base'
import { isStatusError, type Lease, type Node, type Pod } from '@skerry/api'
import { keyOfObject, resources } from '@skerry/client'
import type { BackgroundController, ControllerDeps } from '@skerry/controller-runtime'
import { wordAnnotation } from '@skerry/neighbours'
import { podCondition } from '../pods/pod-state.ts'
import { timestamp } from '../status/timestamp.ts'
import { EvictionPace, planEvictions, zoneOf, type Evictions } from './zone-disruption.ts'
import { neighboursEvent, planCondition } from './neighbours-condition.ts'
import {
  heartbeatSign,
  isBeingEmptied,
  planTaints,
  silentConditions,
  type Heartbeat,
  type NoExecute,
} from './node-health.ts'
import { judgeNodes, type Judged, type Standing } from './standing.ts'
import { nodeHealthDefaults } from '../limits-table.ts'
import { isHandedOver } from './handed-over.ts'

const byNode = 'node-lifecycle-by-node'

export interface NodeLifecycleOptions {
  /** The label whose values name groups of nodes that watch each other. If omitted, their words do not count. */
  readonly neighboursBy?: string | undefined
}

/** Upstream's controller, with its rules alone. */
export const nodeLifecycleController = createNodeLifecycleController({})

/**
 * Distinguishes live nodes from silent ones, taints them accordingly, and marks the pods of silent
 * ones not ready. A silent node that its neighbours see keeps its pods; one that they agree is dead loses them at once.
 */
export function createNodeLifecycleController({
  neighboursBy: label,
}: NodeLifecycleOptions): BackgroundController {
  return {
    name: 'node-lifecycle-controller',
    async run(deps, signal) {
      const { clock, informers } = deps
      const heartbeats = new Map<string, Heartbeat>()
      const standings = new Map<string, Standing>()
      const pace = new EvictionPace()
      const startMs = clock.monotonicMs()
      const nodes = informers.informer(resources.nodes)
      const leases = informers.informer(resources.leases)
      const pods = informers.informer(resources.pods)
      pods.addIndex(byNode, (pod) => [pod.spec?.nodeName ?? ''])
      await Promise.all([nodes, leases, pods].map((each) => each.whenSynced(signal)))
      const checks = createWake(deps)
      using _nodes = nodes.onChange(({ type }) => type !== 'deleted' && checks.soon())
      using _words = leases.onChange(({ object, old }) => {
        if (label !== undefined && wordIn(object) !== wordIn(old)) checks.soon()
      })
      for (;;) {
        const present = nodes.list()
        const own = present.filter((node) => !isHandedOver(node))
        const nowMs = clock.monotonicMs()
        for (const node of present) hear(node, heartbeats, deps)
        const judgments = judgeNodes({
          label,
          nodes: present,
          leaseOf: (name) => leases.get({ namespace: leaseNamespace, name }),
          heartbeatOf: (name) => heartbeats.get(name),
          nowMs,
        })
        const isSettled = nowMs - startMs > nodeHealthDefaults.graceMs
        // All nodes are judged before any is tainted: if all fell silent, this process is the one
        // that is cut off.
        const marked: JudgedNode[] = []
        for (const node of own) {
          const { name = '' } = node.metadata
          const judged = judgments.get(name) ?? unjudged
          if (standings.get(name) !== judged.standing) tellStanding({ ...judged, node }, deps)
          standings.set(name, judged.standing)
          marked.push({
            ...judged,
            node: await markNode({ node, judged, isSettled }, deps, signal),
          })
        }
        const evictions = planEvictions(marked.map(({ node }) => node))
        for (const judged of marked) await checkNode({ ...judged, evictions, pace }, deps, signal)
        const known = new Set(present.map(({ metadata }) => metadata.name ?? ''))
        for (const name of heartbeats.keys()) if (!known.has(name)) heartbeats.delete(name)
        for (const name of standings.keys()) if (!known.has(name)) standings.delete(name)
        await checks.wait(signal)
      }
    },
  }
}

const leaseNamespace = 'kube-node-lease'
const unjudged: Judged = Object.freeze({ standing: 'heard', verdict: undefined })

interface JudgedNode extends Judged {
  readonly node: Node
}

function wordIn(lease: Lease | undefined): string | undefined {
  return lease?.metadata.annotations?.[wordAnnotation]
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

interface Checking extends JudgedNode {
  evictions: Evictions
  pace: EvictionPace
}

interface Marking {
  readonly node: Node
  readonly judged: Judged
  /** Whether this process has run for long enough to have heard every node that lives. */
  readonly isSettled: boolean
}

/** Returns the node's current state, with the conditions that others read from it. */
async function markNode(
  { node, judged, isSettled }: Marking,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<Node> {
  const mark = async (): Promise<Node> => {
    const isNew = judged.verdict?.kind === 'open' && !isSettled
    const shown = isNew ? node : await showVerdict({ ...judged, node }, deps, signal)
    return judged.standing === 'heard' ? shown : markSilent(shown, deps, signal)
  }
  return (await tryOn(node, mark, { deps, signal })) ?? node
}

function tellStanding(judged: JudgedNode, deps: ControllerDeps): void {
  const event = neighboursEvent(judged.node, judged)
  if (event === undefined) return
  deps.events.recorder({ component: 'node-controller' }).event(judged.node, event)
  deps.log.info('Neighbours decide about a silent node', {
    node: judged.node.metadata.name,
    standing: judged.standing,
  })
}

async function showVerdict(
  { node, ...judged }: JudgedNode,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<Node> {
  const condition = planCondition(node, judged, timestamp(deps.clock.now()))
  if (condition === undefined) return node
  const { name = '' } = node.metadata
  const patch = { status: { conditions: [condition] } }
  return deps.informers
    .client(resources.nodes)
    .patchStatus({ type: 'strategic', name, patch }, signal)
}

async function checkNode(
  { node, standing, evictions, pace }: Checking,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const check = async (): Promise<void> => {
    const nowMs = deps.clock.monotonicMs()
    const noExecute = noExecuteOf[standing] ?? noExecuteFor(node, { evictions, pace, nowMs })
    await writeTaints({ node, noExecute }, deps, signal)
    if (isUnready(node) && standing !== 'seen') await markPodsNotReady(node, deps, signal)
  }
  await tryOn(node, check, { deps, signal })
}

/** Where the neighbours have decided, no rate of the zone does. */
const noExecuteOf: Readonly<Partial<Record<Standing, NoExecute>>> = Object.freeze({
  seen: 'stopped',
  dead: 'allowed',
})

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

/** Writes down a node's sign of life, if there is a new one. */
function hear(
  node: Node,
  heartbeats: Map<string, Heartbeat>,
  { informers, clock }: ControllerDeps,
): void {
  const { name = '' } = node.metadata
  const lease = informers.informer(resources.leases).get({ namespace: leaseNamespace, name })
  const sign = heartbeatSign(node, lease)
  const known = heartbeats.get(name)
  if (known?.sign === sign) return
  heartbeats.set(name, { sign, seenMs: clock.monotonicMs(), isFresh: known !== undefined })
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
