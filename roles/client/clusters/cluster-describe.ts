import { isStatusError, type Event } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import {
  apiCertificateExpiresAnnotation,
  certificateExpiresKey,
  clusterResource,
  type Cluster,
} from '@skerry/fleet-kinds'
import type { ClusterState } from '@skerry/gateway'
import type { ChosenHub } from '../../admin/chosen-hub.ts'
import { ageText, bytesText, leftText, rttText } from '../text/human-figures.ts'
import { tableLines } from '../text/print-table.ts'
import { noCluster, openHub, readState } from './cluster-states.ts'
import { askMs } from '../limits-table.ts'

export interface DescribeOptions extends ChosenHub {
  name: string
  /** Either json or yaml. If omitted, text for people. */
  output: string | undefined
}

/** The facts about one cluster that this user may see; hidden ones are omitted. */
export interface ClusterFacts {
  readonly cluster?: Cluster
  readonly state?: ClusterState
  /** The events, oldest first. */
  readonly events?: readonly Event[]
  /** The hidden parts, with the hub's reasons. */
  readonly hidden: readonly string[]
}

export async function printCluster(options: DescribeOptions): Promise<void> {
  const { name, output } = options
  const hub = await openHub(options)
  const facts = await readCluster(hub, name, AbortSignal.timeout(askMs))
  if (output === 'json') return console.log(JSON.stringify(facts))
  if (output === 'yaml') {
    // YAML is a CommonJS package: the program's bundle has only its default export.
    const { default: yaml } = await import('yaml')
    return console.log(yaml.stringify(facts, { aliasDuplicateObjects: false }).trimEnd())
  }
  for (const line of describeCluster(name, facts, Date.now())) console.log(line)
}

/** Throws ExpectedError where there is no such cluster, or neither it nor its state may be seen. */
export async function readCluster(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<ClusterFacts> {
  const fieldSelector = `involvedObject.kind=Cluster,involvedObject.name=${name}`
  const [state, cluster, events] = await Promise.all([
    unlessHidden('state', readState(hub, name, signal)),
    unlessHidden('object', readObject(hub, name, signal)),
    unlessHidden('events', hub.resource(resources.events).list({ fieldSelector }, signal)),
  ])
  const hidden = [state, cluster, events].flatMap(({ why }) => why ?? [])
  if (state.value === undefined && cluster.value === undefined) {
    const text = `Cannot describe cluster "${name}": you may see neither: ${hidden.join('; ')}`
    throw new ExpectedError(text, exitCodes.failure)
  }
  const sorted = events.value?.items.toSorted((a, b) => lastTime(a).localeCompare(lastTime(b)))
  return {
    ...(cluster.value ? { cluster: cluster.value } : {}),
    ...(state.value ? { state: state.value } : {}),
    ...(sorted ? { events: sorted } : {}),
    hidden,
  }
}

async function readObject(hub: ClusterClient, name: string, signal: AbortSignal): Promise<Cluster> {
  try {
    return await hub.resource(clusterResource).get({ name }, signal)
  } catch (error) {
    throw isStatusError(error, 'NotFound') ? noCluster(name) : error
  }
}

/** Returns the value, or the reason if the user lacks the right to it. */
async function unlessHidden<T>(
  what: string,
  read: Promise<T>,
): Promise<{ readonly value?: T; readonly why?: string }> {
  try {
    return { value: await read }
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error
    return { why: `${what}: ${error.message}` }
  }
}

/** Formats lines like `kubectl describe`. */
export function describeCluster(name: string, facts: ClusterFacts, nowMs: number): string[] {
  const { cluster, state, events, hidden } = facts
  const ofState = state && [
    ...stateLines(state, nowMs),
    ...certificateLines(state, cluster, nowMs),
    ...section('Agents', agentRows(state, nowMs), '<none>'),
    ...section('Traffic', trafficRows(state), '<none>'),
  ]
  const ofObject = cluster && [
    ...section('Conditions', conditionRows(cluster, nowMs), '<none>'),
    ...section('Resources', resourceRows(cluster), '<unknown>'),
  ]
  return [
    ...(cluster ? headLines(cluster, nowMs) : [field('Name', name)]),
    ...(ofState ?? []),
    ...(ofObject ?? []),
    ...(events ? section('Events', eventRows(events, nowMs), '<none>') : []),
    ...hidden.map((why) => field('Not allowed', why)),
  ]
}

const labelChars = 18

function field(label: string, value: string): string {
  return `${`${label}:`.padEnd(labelChars)}${value}`
}

/** Formats a map as kubectl does: one pair a line, below each other. */
function pairs(label: string, map: Readonly<Record<string, string>> = {}): string[] {
  const texts = Object.entries(map).map(([key, value]) => `${key}=${value}`)
  if (texts.length === 0) return [field(label, '<none>')]
  return texts.map((text, at) => (at === 0 ? field(label, text) : ' '.repeat(labelChars) + text))
}

function headLines({ metadata, spec, status }: Cluster, nowMs: number): string[] {
  const { name = '', labels, annotations, creationTimestamp = '' } = metadata
  const { provider, region, zone, zones = zone ? [zone] : [] } = spec
  const place = [provider, region, zones.join(',')].filter((part) => part)
  const apis = status?.apiEnablements ?? []
  return [
    field('Name', name),
    ...pairs('Labels', labels),
    ...pairs('Annotations', annotations),
    field('Registered', `${creationTimestamp} (${ageText(creationTimestamp, nowMs)} ago)`),
    field('ID', spec.id ?? '<unknown>'),
    field('Mode', spec.syncMode),
    field('Place', place.join(' / ') || '<none>'),
    field('Kubernetes', status?.kubernetesVersion ?? '<unknown>'),
    field('APIs', apis.length === 0 ? '<unknown>' : `${apis.length} group versions`),
  ]
}

function stateLines(state: ClusterState, nowMs: number): string[] {
  const { since, lastSeen, lastEnd, nodes, through } = state
  const tunnel = through === undefined ? state.tunnel : `${state.tunnel}, that of ${through},`
  const ago = (time: string | null): string =>
    time === null ? 'never' : `${time} (${ageText(time, nowMs)} ago)`
  return [
    field('Nodes', `${nodes.ready} ready of ${nodes.total}`),
    field('Tunnel', since === null ? tunnel : `${tunnel} since ${ago(since)}`),
    field('Last seen', ago(lastSeen)),
    field('Round trip', rttText(state.rttMs)),
    field('Streams', String(state.streams)),
    field('From cluster', traffic(state.bytesIn, state.bytesInPerSecond)),
    field('To cluster', traffic(state.bytesOut, state.bytesOutPerSecond)),
    field('Last end', lastEnd ? `${lastEnd.reason}, ${ago(lastEnd.at)}` : '<unknown>'),
  ]
}

/** Shows the certificate of the API server; of a virtual cluster, that of its agent, which no tunnel shows. */
function certificateLines(
  { through }: ClusterState,
  cluster: Cluster | undefined,
  nowMs: number,
): string[] {
  const { annotations = {} } = cluster?.metadata ?? {}
  if (cluster === undefined) return []
  return through === undefined
    ? [field('API cert', expiry(annotations[apiCertificateExpiresAnnotation], nowMs))]
    : [field('Certificate', expiry(annotations[certificateExpiresKey], nowMs))]
}

function traffic(bytes: number, perSecond: number): string {
  return `${bytesText(bytes)} since it is open, ${bytesText(perSecond)}/s now`
}

/** Shows the traffic of the newest agent, which answers. */
function trafficRows({ agents: [newest] }: ClusterState): string[][] {
  const traffic = newest?.traffic
  if (!traffic) return []
  const { uplinkBytesPerSecond: up, downlinkBytesPerSecond: down, classes, isObeyed } = traffic
  const limit = (rate: number | null): string => (rate === null ? '-' : `${bytesText(rate)}/s`)
  return [
    ['Class', 'From cluster', 'To cluster'],
    ...Object.entries(classes).map(([name, { in: from, out: to }]) => [
      name,
      bytesText(from),
      bytesText(to),
    ]),
    ['at most', up === null || isObeyed ? limit(up) : 'an older agent', limit(down)],
  ]
}

function agentRows({ agents }: ClusterState, nowMs: number): string[][] {
  if (agents.length === 0) return []
  return [
    ['Host', 'Address', 'Version', 'Since', 'RTT', 'Streams', 'In', 'Out', 'Certificate'],
    ...agents.map(({ agent, openedAt, rttMs, streams, bytesIn, bytesOut }) => [
      agent?.host ?? '-',
      agent?.address || '-',
      agent?.version ?? '-',
      ageText(openedAt, nowMs),
      rttText(rttMs),
      String(streams),
      bytesText(bytesIn),
      bytesText(bytesOut),
      expiry(agent?.certificateExpires, nowMs),
    ]),
  ]
}

function expiry(time: string | null | undefined, nowMs: number): string {
  if (!time) return '-'
  const left = leftText(time, nowMs)
  return left === 'expired' ? `expired ${time}` : `${left} left, until ${time}`
}

function conditionRows({ status }: Cluster, nowMs: number): string[][] {
  const conditions = status?.conditions ?? []
  if (conditions.length === 0) return []
  return [
    ['Type', 'Status', 'Since', 'Reason', 'Message'],
    ...conditions.map(({ type, status: is, lastTransitionTime, reason, message }) => [
      type,
      is,
      ageText(lastTransitionTime, nowMs),
      reason,
      message,
    ]),
  ]
}

function resourceRows({ status }: Cluster): string[][] {
  const { allocatable = {}, allocated = {} } = status?.resourceSummary ?? {}
  const names = Object.keys(allocatable)
  if (names.length === 0) return []
  return [
    ['Resource', 'Allocatable', 'Allocated'],
    ...names.map((name) => [name, allocatable[name] ?? '', allocated[name] ?? '0']),
  ]
}

function eventRows(events: readonly Event[], nowMs: number): string[][] {
  if (events.length === 0) return []
  return [
    ['Type', 'Reason', 'Age', 'From', 'Message'],
    ...events.map((event) => [
      event.type ?? '',
      event.reason ?? '',
      eventAge(event, nowMs),
      event.source?.component ?? event.reportingComponent ?? '',
      (event.message ?? '').trim(),
    ]),
  ]
}

/** Formats `2s (x3 over 5m)`, as kubectl does for repeated events. */
function eventAge(event: Event, nowMs: number): string {
  const { count = 1, firstTimestamp } = event
  const last = ageText(lastTime(event), nowMs)
  return count > 1 ? `${last} (x${count} over ${ageText(firstTimestamp, nowMs)})` : last
}

function lastTime({ lastTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''
}

/** A table below its name, its head underlined; or the name and that there is nothing. */
function section(label: string, rows: readonly string[][], none: string): string[] {
  const [head] = rows
  if (head === undefined) return [field(label, none)]
  const ruled = [head, head.map((cell) => '-'.repeat(cell.length)), ...rows.slice(1)]
  return [`${label}:`, ...tableLines(ruled, []).map((line) => `  ${line}`)]
}
