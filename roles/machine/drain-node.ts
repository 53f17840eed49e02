import { StatusError, type Node, type Pod } from '@skerry/api'
import { ExpectedError, exitCodes, type Clock } from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { machineBounds } from './limits-table.ts'

const { lookMs, blockedMsMax, namedPodsMax } = machineBounds.drain
const mirrorAnnotation = 'kubernetes.io/config.mirror'

export interface DrainDeps {
  readonly cluster: ClusterClient
  readonly clock: Clock
  readonly print: (line: string) => void
}

/** Keeps further pods off a node. Resolves false if the site has no such node. */
export async function cordonNode(
  name: string,
  { cluster, print }: DrainDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const patch = { spec: { unschedulable: true } }
  const nodes = cluster.resource(resources.nodes)
  const node = await ifThere(nodes.patch({ name, type: 'merge', patch }, signal))
  print(node === undefined ? `the site has no node ${name}` : `node ${name} gets no further pods`)
  return node !== undefined
}

/**
 * Evicts the pods of a node, all but those of DaemonSets and of the node's own files, and waits for their end. Budgets
 * and grace periods are respected. Throws an ExpectedError that names pods which are still there at the end of the time,
 * or which their budgets have kept for a while.
 */
export async function drainNode(
  { name, timeoutMs }: { readonly name: string; readonly timeoutMs: number },
  deps: DrainDeps,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock, print } = deps
  if (!(await cordonNode(name, deps, signal))) return
  const endMs = clock.monotonicMs() + timeoutMs
  let blockedSinceMs: number | undefined
  const evicted = new Set<string>()
  for (;;) {
    const pods = await podsToMove(cluster, name, signal)
    if (pods.length === 0) return
    const refusals = new Map<string, string>()
    for (const pod of pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
      const refusal = await evict(pod, cluster, signal)
      if (refusal !== undefined) refusals.set(nameOf(pod), refusal)
      else if (!evicted.has(nameOf(pod))) print(`evicted pod ${nameOf(pod)}`)
      if (refusal === undefined) evicted.add(nameOf(pod))
    }
    const nowMs = clock.monotonicMs()
    blockedSinceMs = refusals.size < pods.length ? undefined : (blockedSinceMs ?? nowMs)
    const isBlocked = blockedSinceMs !== undefined && nowMs - blockedSinceMs >= blockedMsMax
    if (isBlocked || nowMs >= endMs) throw await stillThere(name, { pods, refusals }, deps, signal)
    await clock.sleep(lookMs, signal)
  }
}

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`

async function podsToMove(
  cluster: ClusterClient,
  node: string,
  signal: AbortSignal,
): Promise<Pod[]> {
  const fieldSelector = `spec.nodeName=${node}`
  const { items } = await cluster.resource(resources.pods).list({ fieldSelector }, signal)
  return items.filter((pod) => !staysOnNode(pod))
}

/** A DaemonSet would make its pod again at once, and a pod of a file on the node is not the API's. */
function staysOnNode({ metadata }: Pod): boolean {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return true
  return (metadata.ownerReferences ?? []).some(
    ({ controller, kind, apiVersion }) =>
      controller === true && kind === 'DaemonSet' && apiVersion.startsWith('apps/'),
  )
}

/** Asks for a pod's end. Resolves with the reason if the server refuses it now. */
async function evict(
  { metadata }: Pod,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace = '', name = '', uid = '' } = metadata
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid } },
  }
  try {
    const request = { namespace, name, subresource: 'eviction', body }
    await cluster.resource(resources.pods).createSubresource(request, signal)
    return undefined
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    // It has gone, or another pod of its name has come, which the next look shows.
    if (error.reason === 'NotFound' || error.reason === 'Conflict') return undefined
    const budget = error.details?.causes?.find(({ reason }) => reason === 'DisruptionBudget')
    return budget?.message ?? error.message
  }
}

interface Left {
  readonly pods: readonly Pod[]
  readonly refusals: ReadonlyMap<string, string>
}

async function stillThere(
  node: string,
  { pods, refusals }: Left,
  { cluster }: DrainDeps,
  signal: AbortSignal,
): Promise<ExpectedError> {
  // Refused ones first: a person can do something about these.
  const ordered = pods.toSorted(
    (a, b) => Number(refusals.has(nameOf(b))) - Number(refusals.has(nameOf(a))),
  )
  const texts = ordered.slice(0, namedPodsMax).map((pod) => {
    const refusal = refusals.get(nameOf(pod))
    const { terminationGracePeriodSeconds: grace = 30 } = pod.spec ?? {}
    return refusal === undefined
      ? `pod ${nameOf(pod)} has not ended yet (its grace is ${grace} s)`
      : `pod ${nameOf(pod)} may not be evicted: ${refusal}`
  })
  const more = pods.length > namedPodsMax ? [`and ${pods.length - namedPodsMax} more pods`] : []
  const found = await ifThere(cluster.resource(resources.nodes).get({ name: node }, signal))
  const silent = found === undefined || isReady(found) ? [] : [silentText]
  const text = `Cannot drain node ${node}: ${[...texts, ...more, ...silent].join('; ')}`
  return new ExpectedError(text.replaceAll(/\s*\n\s*/g, ' '), exitCodes.failure)
}

const silentText =
  'the node does not answer: if its machine will never come back, remove it with --dead'

function isReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  )
}
