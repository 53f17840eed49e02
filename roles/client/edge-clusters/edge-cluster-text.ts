import { ageOf, humanDuration } from '@skerry/api'
import {
  jumpsOf,
  jumpText,
  machinesOf,
  stepText,
  type EdgeCluster,
  type MachineStatus,
  type StepStatus,
} from '@skerry/provisioning'
import { tableLines } from '../text/print-table.ts'
import { cutToWidth } from '../text/text-width.ts'
import { machineResults, resultLines } from './machine-results.ts'
import { plainText } from '../text/plain-text.ts'

const finished: readonly string[] = ['Done', 'Skipped']

export function phaseOf({ metadata, status }: EdgeCluster): string {
  if (metadata.deletionTimestamp !== undefined && status?.phase === 'Ready') return 'Deleting'
  return status?.phase ?? 'Pending'
}

/** Does the same as plainText for a text of several lines. */
export function plainLines(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  return lines.map((line) => line.split('\t').map(plainText).join('\t')).join('\n')
}

/** Formats a table of edge clusters, as kubectl does. */
export function edgeClusterLines(
  edges: readonly EdgeCluster[],
  { nowMs, hasNamespaces }: { readonly nowMs: number; readonly hasNamespaces: boolean },
): string[] {
  const place = (text: string): string[] => (hasNamespaces ? [text] : [])
  const rows = edges.map((edge) => [
    ...place(edge.metadata.namespace ?? ''),
    edge.metadata.name ?? '',
    phaseOf(edge),
    progressOf(edge),
    String(machinesOf(edge.spec).length),
    ageOf(edge.metadata.creationTimestamp, nowMs),
    plainText(readyMessage(edge)),
  ])
  const head = [...place('NAMESPACE'), 'NAME', 'PHASE', 'STEPS', 'MACHINES', 'AGE', 'MESSAGE']
  return tableLines([head, ...rows], [])
}

/** Formats the number of finished steps and of all: 7/12. */
function progressOf({ status }: EdgeCluster): string {
  const steps = status?.steps ?? []
  return `${steps.filter(({ state }) => finished.includes(state)).length}/${steps.length}`
}

function readyMessage({ status }: EdgeCluster): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? ''
}

/** Formats everything about one edge cluster for people. */
export function describeLines(edge: EdgeCluster, nowMs: number): string[] {
  const { metadata, spec, status } = edge
  const statusOf = new Map(status?.machines?.map((machine) => [machine.address, machine]))
  const shownKey = ({ hostKey, unknownHostKey }: Partial<MachineStatus>): string =>
    unknownHostKey === undefined ? (hostKey ?? '-') : `${unknownHostKey} (not accepted)`
  const planned = machinesOf(spec).map(({ address, user, port, block }) => {
    const known = statusOf.get(address) ?? {}
    statusOf.delete(address)
    return [address, user, String(port), block.credentials.name, shownKey(known)]
  })
  const jumpHosts = [
    ...[...statusOf.values()].flatMap(({ login }) => login?.jump ?? []),
    ...jumpsOf(spec),
  ]
  const byName = new Map(jumpHosts.map((jump) => [jumpText(jump), jump]))
  const jumps = [...byName.values()].map((jump) => {
    const known = status?.jumps?.find((each) => jumpText(each) === jumpText(jump))
    const { hostKey, unknownHostKey } = known ?? {}
    const shown = unknownHostKey === undefined ? hostKey : `${unknownHostKey} (not accepted)`
    const { address, user = 'root', port = 22, credentials } = jump
    return [`${address} (jump host)`, user, String(port), credentials.name, shown ?? '-']
  })
  const leaving = [...statusOf.values()].map((left) => {
    const { user = '-', port = '-', credentials = '-' } = left.login ?? {}
    return [left.address, user, String(port), credentials, shownKey(left)]
  })
  const logins = [...planned, ...leaving]
  const fields: readonly (readonly [string, string | undefined])[] = [
    ['Name', metadata.name],
    ['Namespace', metadata.namespace],
    ['Display name', spec.displayName],
    ['Cluster', status?.clusterName ?? spec.clusterName ?? metadata.name],
    ['Phase', phaseOf(edge)],
    ['Message', readyMessage(edge)],
    ['Steps', `${progressOf(edge)} finished`],
    ['Capacity', status?.capacity],
    ['Programs', programsText(status?.programs)],
    ['Package', (status?.package ?? spec.package)?.digest],
  ]
  const given = fields.flatMap(([label, text = '']) =>
    text === '' ? [] : [[`${label}:`, plainText(text)]],
  )
  const head = ['ADDRESS', 'USER', 'PORT', 'CREDENTIALS', 'HOST KEY']
  const rows = [...logins, ...jumps].map((row) => row.map(plainText))
  // A cluster that is imported has no machines.
  const ofMachines =
    rows.length === 0
      ? []
      : ['', ...resultLines(machineResults(edge)), '', ...tableLines([head, ...rows], [])]
  return [...tableLines(given, []), ...ofMachines, '', ...stepLines(status?.steps ?? [], nowMs)]
}

/** Formats the versions of the program with the number of machines that have each: 0.2.0 on 3, 0.1.0 on 1. */
function programsText(programs: Readonly<Record<string, string>> = {}): string {
  const byVersion = Map.groupBy(Object.values(programs), (version) => version)
  return [...byVersion].map(([version, { length }]) => `${version} on ${length}`).join(', ')
}

/** Formats steps as a table. */
function stepLines(steps: readonly StepStatus[], nowMs: number): string[] {
  const head = ['STEP', 'MACHINE', 'STATE', 'ATTEMPT', 'DURATION', 'MESSAGE']
  return tableLines([head, ...steps.map((step) => stepCells(step, nowMs))], [])
}

/** Formats a step as one line of a log. */
export function stepLine(step: StepStatus, nowMs: number): string {
  const { state, attempt = 0 } = step
  const duration = durationOf(step, nowMs)
  const facts = [state, ...(attempt > 1 ? [`attempt ${attempt}`] : []), ...duration]
  const message = stepMessage(step, nowMs)
  return `${stepText(step)}: ${facts.join(', ')}${message === '' ? '' : `: ${message}`}`
}

function stepCells(step: StepStatus, nowMs: number): string[] {
  const { name, machine = '-', state, attempt = 0 } = step
  const [duration = '-'] = durationOf(step, nowMs)
  const count = attempt === 0 ? '-' : String(attempt)
  return [name, machine, state, count, duration, stepMessage(step, nowMs)]
}

/** Returns how long the last attempt took or has taken so far; nothing before the first. */
function durationOf({ startTime, finishTime, state }: StepStatus, nowMs: number): string[] {
  if (startTime === undefined) return []
  const endMs =
    finishTime === undefined && state === 'Running' ? nowMs : Date.parse(finishTime ?? '')
  const ms = endMs - Date.parse(startTime)
  return Number.isNaN(ms) ? [] : [humanDuration(Math.max(0, ms))]
}

function stepMessage({ nextTime, message = '' }: StepStatus, nowMs: number): string {
  const text = plainText(message)
  if (nextTime === undefined) return text
  const leftMs = Math.max(0, Date.parse(nextTime) - nowMs)
  return `again in ${humanDuration(leftMs)}: ${text}`
}

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/**
 * Formats steps for a screen that is drawn again: no line is wider, and the list is not longer. If not all fit, those
 * that were finished first are left out first, then those that come last.
 */
export function screenLines(edge: EdgeCluster, nowMs: number, size: ScreenSize): string[] {
  const steps = edge.status?.steps ?? []
  // The head of the table, the line of the cluster, the line of the rest, and the cursor's own.
  const room = Math.max(1, size.rows - 4)
  const shown = mostUrgent(steps, room)
  const left = steps.length - shown.length
  const { name = '' } = edge.metadata
  return [
    `${name}: ${phaseOf(edge)}, ${progressOf(edge)} steps finished`,
    ...stepLines(shown, nowMs),
    ...(left === 0 ? [] : [`… and ${left} more steps`]),
  ].map((line) => cutToWidth(line, size.columns))
}

/** Returns as many steps as there is room for, in their order: those that run or wait for something, the next, the last. */
function mostUrgent(steps: readonly StepStatus[], room: number): StepStatus[] {
  const isFinished = ({ state }: StepStatus): boolean => finished.includes(state)
  const isNext = ({ state, nextTime }: StepStatus): boolean =>
    state === 'Waiting' && nextTime === undefined
  const isUrgent = (step: StepStatus): boolean => !isFinished(step) && !isNext(step)
  const ended = steps.filter(isFinished).toSorted((a, b) => endMs(a) - endMs(b))
  const ranked = [...steps.filter(isUrgent), ...steps.filter(isNext), ...ended.toReversed()]
  const chosen = new Set(ranked.slice(0, room))
  return steps.filter((step) => chosen.has(step))
}

function endMs({ finishTime }: StepStatus): number {
  const ms = Date.parse(finishTime ?? '')
  return Number.isNaN(ms) ? 0 : ms
}
