import type {
  FlowSchema,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
} from '@skerry/api'
import type { Clock, Metrics } from '@skerry/base'
import type { UserInfo } from '../contract/access.ts'
import { tooManyRequests } from '../contract/status-answer.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import type { Objects } from '../contract/objects.ts'
import { listTyped } from '../contract/typed-objects.ts'
import { flowOf, inOrder, schemaMatches } from './flow-schemas.ts'
import { flowSchemas, priorityLevels } from './flow-control-objects.ts'
import {
  PriorityQueues,
  type LevelCounts,
  type Leave,
  type QueueShape,
  type QueueState,
  type SeatsAsked,
} from './priority-queues.ts'
import { shareSeats } from './share-seats.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface FlowControlOptions {
  /** The number of seats of all levels together. */
  readonly seatsMax: number
  /** How long a request waits for its turn. */
  readonly waitMs: number
  /** The interval at which unused seats are lent again. */
  readonly shareMs: number
  /** Returns the number of objects that a list would read, which determines its seats. */
  readonly objectsOf: (info: RequestInfo) => number
  /** Returns the number of watches of the written resource. If omitted, there are none. */
  readonly watchersOf?: (info: RequestInfo) => number
}

export interface FlowRequest {
  readonly user: UserInfo
  readonly info: RequestInfo
}

export interface FlowTicket {
  /** Headers with the uids of the schema and level that the request came under. */
  readonly headers: Readonly<Record<string, string>>
  readonly leave: Leave
}

/** Reports that a request may not run now, or that it failed. Its answer names the schema, too. */
export class FlowRejection extends Error {
  override name = 'FlowRejection'
  readonly headers: Readonly<Record<string, string>>
  constructor(headers: Readonly<Record<string, string>>, cause: unknown = tooManyRequests()) {
    super('Cannot serve the request')
    this.headers = headers
    this.cause = cause
  }
}

export interface FlowControl {
  /** Resolves when the request may run. Throws FlowRejection if it had to wait too long. */
  enter(asked: FlowRequest, signal: AbortSignal): Promise<FlowTicket>
  /** Returns the current state of the levels by name, for administrators. */
  levels(): LevelState[]
  /** Lends unused seats until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

export interface LevelState {
  readonly name: string
  readonly counts: Readonly<LevelCounts>
  readonly seatsInUse: number
  readonly seatsMax: number
  readonly queues: readonly QueueState[]
}

interface Level {
  readonly name: string
  readonly queues: PriorityQueues
  isExempt: boolean
  nominal: number
  min: number
  max: number
  smoothDemand: number
}

interface Place {
  readonly schema: FlowSchema
  readonly level: Level
  readonly headers: Readonly<Record<string, string>>
}

interface Plan {
  readonly version: string
  readonly places: readonly Place[]
}

interface State {
  readonly levels: Map<string, Level>
  plan: Plan
}

const objectsPerSeat = 100
const { listSeatsMax, writeSeatsMax, eventMs } = apiServerBounds.flowControl
const watchersPerSeat = 10
const writeVerbs: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])
const leaveExempt: Leave = () => undefined

/** Applies priority and fairness: a client that floods the server waits, and the others go on (KEP-1040). */
export function createFlowControl(
  objects: Objects,
  options: FlowControlOptions,
  { clock, metrics }: { clock: Clock; metrics: Metrics },
): FlowControl {
  const state: State = { levels: new Map(), plan: { version: '', places: [] } }
  const rejected = metrics.counter(
    'apiserver_flowcontrol_rejected_requests_total',
    'Requests that were turned away.',
    ['priority_level', 'flow_schema', 'reason'],
  )
  const dispatched = metrics.counter(
    'apiserver_flowcontrol_dispatched_requests_total',
    'Requests that had their turn.',
    ['priority_level', 'flow_schema'],
  )
  const counts = new WeakMap<Place, { inc(): void }>()
  /** Caches labels: looking them up for each request would cost more than the rest of it. */
  const countOf = (place: Place): { inc(): void } => {
    const { schema, level } = place
    const count = counts.get(place) ?? dispatched.labels(level.name, schema.metadata.name ?? '')
    counts.set(place, count)
    return count
  }
  const report = createLevelMetrics(metrics)
  const current = (): Plan => {
    const version = `${objects.version(flowSchemas)}/${objects.version(priorityLevels)}`
    if (state.plan.version !== version) {
      state.plan = { version, places: planOf(objects, { state, options, clock }) }
    }
    return state.plan
  }
  return {
    async enter({ user, info }, signal) {
      const place = current().places.find(({ schema }) => schemaMatches(schema, user, info))
      if (!place) return { headers: {}, leave: leaveExempt }
      const { schema, level, headers } = place
      if (level.isExempt) return { headers, leave: leaveExempt }
      const asked = { ...workOf(info, options), waitMs: options.waitMs }
      const leave = await level.queues.enter(flowOf(schema, user, info), asked, signal)
      if (typeof leave === 'function') {
        countOf(place).inc()
        return { headers, leave }
      }
      rejected.inc({
        priority_level: level.name,
        flow_schema: schema.metadata.name ?? '',
        reason: leave,
      })
      throw new FlowRejection(headers)
    },
    levels: () =>
      [...state.levels.values()]
        .map(({ name, queues }) => ({
          name,
          counts: queues.counts,
          seatsInUse: queues.seatsInUse,
          seatsMax: queues.seatsMax,
          queues: queues.queues(),
        }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(options.shareMs, signal)
        current()
        lendSeats([...state.levels.values()], options.seatsMax)
        report([...state.levels.values()])
      }
    },
  }
}

/**
 * Reports upstream's metrics as of the last look; counting every request would cost more than it is
 * worth.
 */
function createLevelMetrics(metrics: Metrics): (levels: readonly Level[]) => void {
  const gauge = (name: string, help: string) =>
    metrics.gauge(`apiserver_flowcontrol_${name}`, help, ['priority_level'])
  const limit = gauge('current_limit_seats', 'Seats that the level has now.')
  const nominal = gauge('nominal_limit_seats', 'Seats of its own.')
  const executing = gauge('current_executing_seats', 'Seats that are taken.')
  const waiting = gauge('current_inqueue_seats', 'Seats that requests wait for.')
  return (levels) => {
    for (const { name, queues, nominal: own } of levels) {
      const labels = { priority_level: name }
      limit.set(labels, queues.seatsMax)
      nominal.set(labels, own)
      executing.set(labels, queues.seatsInUse)
      waiting.set(labels, queues.seatsWaiting)
    }
  }
}

/**
 * A write to a resource with many watches takes more seats for longer, because each event goes to
 * each watch.
 */
function workOf(info: RequestInfo, options: FlowControlOptions): Omit<SeatsAsked, 'waitMs'> {
  if (info.verb === 'list' || !isWrite(info)) return { seats: seatsOf(info, options) }
  return writeWork(options.watchersOf?.(info) ?? 0)
}

/**
 * Returns upstream's estimate: a seat for ten watchers, five milliseconds each, at most ten seats
 * at a time.
 */
export function writeWork(watchers: number): Omit<SeatsAsked, 'waitMs'> {
  if (watchers < watchersPerSeat) return { seats: 1 }
  const work = Math.ceil(watchers / watchersPerSeat)
  const seats = Math.min(writeSeatsMax, work)
  return { seats, afterMs: (work * eventMs) / seats }
}

/** Creating a service account token causes no event. */
function isWrite({ verb, resource, subresource }: RequestInfo): boolean {
  return (
    writeVerbs.has(verb) && !(resource.resource === 'serviceaccounts' && subresource === 'token')
  )
}

/** A list takes a seat for each hundred objects that it reads; everything else takes one. */
export function seatsOf(
  info: RequestInfo,
  { objectsOf }: Pick<FlowControlOptions, 'objectsOf'>,
): number {
  if (info.verb !== 'list') return 1
  const count = objectsOf(info)
  const limit = Number(info.query.get('limit') ?? 0)
  const isFromCache = info.query.get('resourceVersion') === '0'
  const touched = limit > 0 && !isFromCache ? Math.min(limit, count) : count
  return Math.max(1, Math.min(listSeatsMax, Math.ceil(touched / objectsPerSeat)))
}

function planOf(
  objects: Objects,
  { state, options, clock }: { state: State; options: FlowControlOptions; clock: Clock },
): Place[] {
  const configurations = listTyped<PriorityLevelConfiguration>(objects, priorityLevels)
  const sharesTotal = configurations.reduce((sum, each) => sum + sharesOf(each), 0)
  for (const each of configurations) {
    updateLevel(state, each, {
      clock,
      seats: (options.seatsMax * sharesOf(each)) / sharesTotal,
      ...options,
    })
  }
  return inOrder(listTyped<FlowSchema>(objects, flowSchemas)).flatMap((schema): Place[] => {
    const wanted = schema.spec?.priorityLevelConfiguration.name ?? ''
    const configuration = configurations.find(({ metadata }) => metadata.name === wanted)
    const level = state.levels.get(wanted)
    if (!configuration || !level) return []
    const headers = {
      'x-kubernetes-pf-flowschema-uid': schema.metadata.uid ?? '',
      'x-kubernetes-pf-prioritylevel-uid': configuration.metadata.uid ?? '',
    }
    return [{ schema, level, headers }]
  })
}

function updateLevel(
  { levels }: State,
  configuration: PriorityLevelConfiguration,
  { clock, seats, seatsMax }: { clock: Clock; seats: number; seatsMax: number },
): void {
  const name = configuration.metadata.name ?? ''
  const { spec } = configuration
  const { limited } = spec ?? {}
  const nominal = Math.ceil(seats)
  const shape = shapeOf(limited)
  const level = levels.get(name) ?? {
    name,
    queues: new PriorityQueues(shape, nominal, clock),
    isExempt: false,
    nominal,
    min: 0,
    max: 0,
    smoothDemand: 0,
  }
  if (level.nominal !== nominal) level.queues.setSeats(nominal)
  const lent = spec?.exempt?.lendablePercent ?? limited?.lendablePercent ?? 0
  const borrowed = limited?.borrowingLimitPercent
  level.isExempt = spec?.type === 'Exempt'
  level.nominal = nominal
  level.min = nominal - Math.round((nominal * lent) / 100)
  level.max = borrowed === undefined ? seatsMax : nominal + Math.round((nominal * borrowed) / 100)
  level.queues.setShape(shape)
  levels.set(name, level)
}

function sharesOf({ spec }: PriorityLevelConfiguration): number {
  if (spec?.type === 'Exempt') return spec.exempt?.nominalConcurrencyShares ?? 0
  return spec?.limited?.nominalConcurrencyShares ?? 30
}

function shapeOf(limited: LimitedPriorityLevelConfiguration | undefined): QueueShape | undefined {
  const response = limited?.limitResponse
  if (response?.type !== 'Queue') return undefined
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = response.queuing ?? {}
  return { queues, handSize, queueLengthMax: queueLengthLimit }
}

/** The weight of earlier demand at each look; half is forgotten after five minutes. */
const smoothing = 0.977

function lendSeats(all: readonly Level[], seatsMax: number): void {
  const levels = all.filter(({ isExempt }) => !isExempt)
  const claims = levels.map((level) => {
    const demand = level.queues.takeDemand()
    level.smoothDemand = Math.max(demand, level.smoothDemand * smoothing)
    const { nominal, min, max, smoothDemand } = level
    return { nominal, min, max, demand, smoothDemand }
  })
  // While no level asks for more than its own seats, each keeps them.
  if (claims.every(({ demand, nominal }) => demand <= nominal)) {
    for (const { queues, nominal } of levels) queues.setSeats(nominal)
    return
  }
  const seats = shareSeats(claims, seatsMax)
  for (const [at, { queues }] of levels.entries()) queues.setSeats(seats[at] ?? 1)
}
