import { seededRandom, type Random } from '@skerry/base'

/** One change of a key, as an API server makes it. */
export interface DayWrite {
  /** Milliseconds since midnight. */
  readonly atMs: number
  readonly key: string
  /** Omitted: the key is deleted. */
  readonly value?: Uint8Array
  /** A renewal, a heartbeat or an event, which the API server lets wait for a durable write. */
  readonly isRelaxed: boolean
}

export interface DayPlan {
  readonly nodes: number
  /** Each has this many pods, all of which are replaced in a rollout. */
  readonly podsPerDeployment: number
  readonly deployments: number
  readonly rollouts: number
  /** Jobs of one pod, each removed again. */
  readonly jobs: number
  readonly configChanges: number
}

/** An edge site with a little to do: three nodes, thirty pods, a release of everything four times, a job an hour. */
export const busyDay: DayPlan = {
  nodes: 3,
  podsPerDeployment: 5,
  deployments: 6,
  rollouts: 4,
  jobs: 24,
  configChanges: 48,
}

/** A site of one node on which nothing changes. */
export const idleDay: DayPlan = {
  nodes: 1,
  podsPerDeployment: 0,
  deployments: 0,
  rollouts: 0,
  jobs: 0,
  configChanges: 0,
}

export const dayMs = 86_400_000
/** Upstream's node agents renew their leases and report their status at these intervals. */
const leaseMs = 10_000
const statusMs = 300_000

/** The sizes of stored objects, in bytes, as a site's own are. */
const sizes = Object.freeze({
  lease: 550,
  node: 4_500,
  pod: 3_600,
  event: 900,
  deployment: 2_600,
  replicaSet: 2_400,
  endpointSlice: 1_400,
  job: 2_200,
  configMap: 1_000,
})

type Kind = keyof typeof sizes

interface Change {
  readonly kind: Kind
  readonly name: string
  readonly isRelaxed?: boolean
  readonly isDeletion?: boolean
}

/** Returns all writes of the day in their order. The same plan gives the same writes. */
export function scriptedDay(plan: DayPlan): DayWrite[] {
  const random = seededRandom(20_261)
  const writes: DayWrite[] = []
  /** Adds changes that follow each other within a second or so. */
  const add = (atMs: number, changes: readonly Change[]): void => {
    for (const [index, change] of changes.entries()) {
      writes.push(writeOf(change, { atMs: atMs + index * 200, random }))
    }
  }
  for (let node = 0; node < plan.nodes; node += 1) addNode(node, add)
  spread(plan.rollouts, (atMs, rollout) => {
    for (let index = 0; index < plan.deployments; index += 1) {
      add(atMs + index * 60_000, rolloutOf({ ...plan, index, rollout }))
    }
  })
  spread(plan.jobs, (atMs, job) => add(atMs, jobOf(job)))
  spread(plan.configChanges, (atMs, index) =>
    add(atMs, [{ kind: 'configMap', name: `settings-${index % 6}` }]),
  )
  return writes.toSorted((a, b) => a.atMs - b.atMs)
}

type Add = (atMs: number, changes: readonly Change[]) => void

function addNode(node: number, add: Add): void {
  for (let atMs = node * 3_000; atMs < dayMs; atMs += leaseMs) {
    // The first write of a key makes it; later ones change a time.
    add(atMs, [{ kind: 'lease', name: `node-${node}`, isRelaxed: atMs >= leaseMs }])
  }
  for (let atMs = node * 7_000; atMs < dayMs; atMs += statusMs) {
    add(atMs, [{ kind: 'node', name: `node-${node}`, isRelaxed: atMs >= statusMs }])
  }
}

/** Calls with equally distant times of the day, none at midnight. */
function spread(count: number, work: (atMs: number, index: number) => void): void {
  for (let index = 0; index < count; index += 1) work(((index + 0.5) * dayMs) / count, index)
}

interface Rollout extends DayPlan {
  readonly index: number
  readonly rollout: number
}

/** A rollout one pod at a time: each new one is scheduled, starts, and takes the place of an old one. */
function rolloutOf({ index, rollout, podsPerDeployment }: Rollout): Change[] {
  const deployment: Change = { kind: 'deployment', name: `shop-${index}` }
  const next: Change = { kind: 'replicaSet', name: `shop-${index}-${rollout}` }
  const last: Change = { kind: 'replicaSet', name: `shop-${index}-${rollout - 1}` }
  const changes: Change[] = [deployment, next, deployment]
  for (let pod = 0; pod < podsPerDeployment; pod += 1) {
    const name = `shop-${index}-${rollout}-${pod}`
    changes.push(next, ...startOf(name), next, { kind: 'endpointSlice', name: `shop-${index}` })
    if (rollout > 0) {
      changes.push(last, ...endOf(`shop-${index}-${rollout - 1}-${pod}`))
      changes.push({ kind: 'endpointSlice', name: `shop-${index}` })
    }
    changes.push(deployment)
  }
  return changes
}

function jobOf(number: number): Change[] {
  const job: Change = { kind: 'job', name: `report-${number}` }
  const pod = `report-${number}-pod`
  const done: Change = { kind: 'pod', name: pod }
  const old = number - 3
  const removed: readonly Change[] =
    old < 0
      ? []
      : [...endOf(`report-${old}-pod`), { ...job, name: `report-${old}`, isDeletion: true }]
  return [job, job, ...startOf(pod), done, job, job, ...removed]
}

/** A pod is made, bound, reported as starting and as running, with its events. */
function startOf(name: string): Change[] {
  const pod: Change = { kind: 'pod', name }
  const events = ['scheduled', 'pulled', 'created', 'started'].map((reason) =>
    eventOf(name, reason),
  )
  return [pod, pod, ...events, pod, pod]
}

function endOf(name: string): Change[] {
  const pod: Change = { kind: 'pod', name }
  return [pod, eventOf(name, 'killing'), pod, { ...pod, isDeletion: true }]
}

function eventOf(pod: string, reason: string): Change {
  return { kind: 'event', name: `${pod}.${reason}`, isRelaxed: true }
}

function writeOf(
  { kind, name, isRelaxed = false, isDeletion = false }: Change,
  { atMs, random }: { atMs: number; random: Random },
): DayWrite {
  const key = `/registry/${kind}/default/${name}`
  if (isDeletion) return { atMs, key, isRelaxed: false }
  const value = new Uint8Array(sizes[kind])
  // Nothing in it repeats, so that no store gains by compression.
  for (let at = 0; at < value.length; at += 1) value[at] = 32 + Math.floor(random.next() * 95)
  return { atMs, key, value, isRelaxed }
}
