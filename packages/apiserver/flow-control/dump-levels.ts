import type { Route } from '../contract/route.ts'
import { textAnswer } from '../contract/exchange.ts'
import type { FlowControl, LevelState } from './flow-control.ts'

type Row = readonly (string | number | boolean)[]

const root = '/debug/api_priority_and_fairness/'

export function levelDumpRoutes(flowControl: Pick<FlowControl, 'levels'>): Route[] {
  return Object.entries(levelDumps).map(([name, dump]) => ({
    prefix: `${root}${name}`,
    matches: ({ path }) => path === `${root}${name}`,
    serve: async () => textAnswer(200, dump(flowControl.levels())),
  }))
}

/** Upstream's tables of its levels and queues, by the last part of their path. */
const levelDumps: Readonly<Record<string, (levels: readonly LevelState[]) => string>> =
  Object.freeze({
    dump_priority_levels: (levels: readonly LevelState[]) =>
      table([levelHeader, ...levels.map(levelRow)]),
    dump_queues: (levels: readonly LevelState[]) =>
      table([queueHeader, ...levels.flatMap(queueRows)]),
  })

const levelHeader: Row = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
]

function levelRow({ name, counts, queues }: LevelState): Row {
  const { waiting, executing, dispatched, rejected, timedOut, cancelled } = counts
  const active = queues.filter((queue) => queue.waiting > 0).length
  const isIdle = waiting === 0 && executing === 0
  return [
    name,
    active,
    isIdle,
    false,
    waiting,
    executing,
    dispatched,
    rejected,
    timedOut,
    cancelled,
  ]
}

const queueHeader: Row = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'SeatsInUse',
  'NextDispatchR',
]

function queueRows({ name, queues }: LevelState): Row[] {
  return queues.map(({ index, waiting, seatsInUse, startTag }) => [
    name,
    index,
    waiting,
    seatsInUse,
    `${(startTag / 1000).toFixed(8)}ss`,
  ])
}

/** Makes columns as wide as their widest cell. */
function table(rows: readonly Row[]): string {
  const texts = rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? String(cell) : `${cell},`)),
  )
  const widths = (texts[0] ?? []).map((_cell, at) =>
    Math.max(8, ...texts.map((row) => (row[at] ?? '').length + 1)),
  )
  return texts
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}
