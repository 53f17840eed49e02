import type { Pod } from '@skerry/api'
import type { HeldPod } from '@skerry/kubelet'

/** The outcome of an absence of the control plane. */
export type DrillResult = 'goes on' | 'in part' | 'breaks'

export interface DrillFinding {
  /** A pod as `<namespace>/<name>`, or `node`. */
  readonly subject: string
  readonly result: DrillResult
  /** The reasons, in words for people; empty if it goes on. */
  readonly reasons: readonly string[]
}

/** Everything that a node has for an absence. */
export interface DrillFacts {
  readonly pods: readonly HeldPod[]
  /** The images of containers that the node lacks; undefined if containerd does not answer. */
  readonly missingImages: ReadonlySet<string> | undefined
  readonly certificates: readonly { readonly name: string; readonly endsMs: number }[]
  readonly logs: { readonly freeBytes: number; readonly bytesPerContainer: number }
}

interface Reason {
  readonly result: Exclude<DrillResult, 'goes on'>
  readonly text: string
}

/** Returns what an absence from now until then does to the node and to each of its pods. */
export function planDrill(facts: DrillFacts, nowMs: number, untilMs: number): DrillFinding[] {
  const pods = facts.pods
    .map((held) => findingOf(nameOf(held.pod), reasonsOfPod(held, facts, { nowMs, untilMs })))
    .toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  return [findingOf('node', reasonsOfNode(facts, untilMs)), ...pods]
}

function findingOf(subject: string, reasons: readonly Reason[]): DrillFinding {
  const isBroken = reasons.some(({ result }) => result === 'breaks')
  const result = isBroken ? 'breaks' : reasons.length > 0 ? 'in part' : 'goes on'
  return { subject, result, reasons: reasons.map(({ text }) => text) }
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`
}

function reasonsOfNode({ certificates, missingImages, logs, pods }: DrillFacts, untilMs: number) {
  const reasons: Reason[] = certificates
    .filter(({ endsMs }) => endsMs < untilMs)
    .map(({ name, endsMs }) => ({
      result: 'in part',
      text: `certificate ${name} ends at ${timeOf(endsMs)}; the node comes back by its key within the site's --node-return-grace`,
    }))
  if (missingImages === undefined) {
    reasons.push({ result: 'in part', text: 'containerd does not answer: images are not known' })
  }
  const containers = pods.reduce((sum, { pod }) => sum + (pod.spec?.containers?.length ?? 0), 0)
  const logBytes = containers * logs.bytesPerContainer
  if (logBytes > logs.freeBytes) {
    reasons.push({
      result: 'breaks',
      text: `logs of ${containers} containers may take ${megabytes(logBytes)}, and the disk has ${megabytes(logs.freeBytes)} free`,
    })
  }
  return reasons
}

function reasonsOfPod(
  { pod, missing, tokenEndsMs }: HeldPod,
  { missingImages }: DrillFacts,
  { nowMs, untilMs }: { nowMs: number; untilMs: number },
): Reason[] {
  const reasons: Reason[] = []
  const breaks = (text: string): void => void reasons.push({ result: 'breaks', text })
  const hinders = (text: string): void => void reasons.push({ result: 'in part', text })
  for (const key of missing) breaks(`${key} is not on this node: it does not start again`)
  const { initContainers = [], containers = [] } = pod.spec ?? {}
  for (const { name, image = '', imagePullPolicy } of [...initContainers, ...containers]) {
    if (missingImages?.has(image)) {
      breaks(`image ${image} is not on this node: container ${name} does not start again`)
    } else if (imagePullPolicy === 'Always') {
      breaks(`container ${name} pulls its image at each start (imagePullPolicy: Always)`)
    }
  }
  const deadlineMs = deadlineOf(pod)
  if (deadlineMs !== undefined && deadlineMs < untilMs) {
    breaks(`its activeDeadlineSeconds end it at ${timeOf(deadlineMs)}`)
  }
  if (tokenEndsMs !== undefined && tokenEndsMs < untilMs) {
    const others = 'the node signs others meanwhile, which the node and its site alone accept'
    hinders(`its token for the API ends at ${timeOf(tokenEndsMs)}, and ${others}`)
  }
  const evictedS = evictionSeconds(pod)
  if (evictedS !== undefined && nowMs + evictedS * 1000 < untilMs) {
    hinders(`the site gives it up after ${evictedS} s, and ends it when the node is back`)
  }
  return reasons
}

function deadlineOf({ spec, status }: Pod): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined
  return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000
}

/** Returns the time for which the pod tolerates a node that cannot be reached. Undefined if it does so forever. */
function evictionSeconds({ spec }: Pod): number | undefined {
  const tolerations = (spec?.tolerations ?? []).filter(
    ({ key, effect }) =>
      (key === undefined || key === '' || key === 'node.kubernetes.io/unreachable') &&
      (effect === undefined || effect === '' || effect === 'NoExecute'),
  )
  if (tolerations.length === 0) return 0
  const times = tolerations.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MiB`
}
