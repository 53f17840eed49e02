import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { messageOf } from '@skerry/base'
import type { Node } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import { clusterResource, conditionTypes } from '@skerry/fleet-kinds'
import { openAdminCluster } from '../admin/admin-cluster.ts'
import { consoleAddress } from '../admin/console-link.ts'
import { clockFaultOf, findRoleDirectories, isOff } from '../admin/certificate-list.ts'
import { lockHolder } from '../runtime/lock-file.ts'
import { version } from '../runtime/version.ts'
import { findInstallation } from './find-installation.ts'
import type { Installation, UpSettings } from './installation.ts'
import { upBounds } from './limits-table.ts'

/** One part that runs or should, and when that was last true. */
export interface StatusLine {
  part: string
  name: string
  state: string
  version: string
  detail: string
  /** Milliseconds since the Unix epoch at which this was known; null: never. */
  seenAtMs: number | null
}

export interface StatusReport {
  dataDir: string
  supervisorPid: number | null
  lines: StatusLine[]
}

const { askMsMax } = upBounds.status

/** Reports what runs now. Asks every part itself, and reports those that do not answer. */
export async function readStatus(dataDir: string): Promise<StatusReport> {
  const { installation, settings } = await findInstallation(dataDir)
  const holder = await lockHolder(installation.lockFile)
  const lines = [
    ...(await hubLines(installation)),
    ...(await siteLines(installation, settings)),
    ...(await certificateLines(dataDir)),
  ]
  return { dataDir, supervisorPid: holder ?? null, lines }
}

async function hubLines(installation: Installation): Promise<StatusLine[]> {
  const hub = await roleLine('hub', installation.hubDir)
  if (hub.cluster === undefined) return [hub.line]
  const clusters = await listClusters(hub.cluster)
  return [hub.line, consoleLine(hub.line), ...clusters]
}

/** The console is a part of the hub. */
function consoleLine({ state, detail, seenAtMs }: StatusLine): StatusLine {
  const address = consoleAddress(detail)
  return { part: 'console', name: 'web', state, version, detail: address, seenAtMs }
}

async function siteLines(installation: Installation, settings: UpSettings): Promise<StatusLine[]> {
  const site = await roleLine('site', installation.siteDir, settings.clusterName)
  if (site.cluster === undefined) return [site.line]
  const nodes = await site.cluster
    .resource(resources.nodes)
    .list({}, AbortSignal.timeout(askMsMax))
    .catch((error: unknown) => unknownLine('node', error))
  return [site.line, ...('items' in nodes ? nodes.items.map(nodeLine) : [nodes])]
}

/** Lists only problems: the clock, and certificates by it. */
async function certificateLines(dataDir: string): Promise<StatusLine[]> {
  const nowMs = Date.now()
  const roles = await findRoleDirectories(dataDir, nowMs)
  const base = { name: '', version: '', seenAtMs: nowMs }
  const fault = clockFaultOf(roles, nowMs)
  const clock = fault === undefined ? [] : [{ ...base, part: 'clock', state: 'off', detail: fault }]
  const certificates = roles.flatMap((role) =>
    role.certificates.filter(isOff).map((listed) => ({
      ...base,
      part: 'certificate',
      name: relative(dataDir, listed.file),
      state: listed.state,
      detail: `${listed.for}; see "skerry certificates list"`,
    })),
  )
  return [...clock, ...certificates]
}

/** Returns a line for a part that cannot be asked, which differs from a missing one. */
function unknownLine(part: string, error: unknown): StatusLine {
  const why = messageOf(error)
  const detail = `Cannot list: ${why}`
  return { part, name: '?', state: 'unknown', version: '', detail, seenAtMs: null }
}

async function roleLine(
  role: string,
  directory: string,
  name = role,
): Promise<{ line: StatusLine; cluster: ClusterClient | undefined }> {
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const base = { part: role, name, version: '', seenAtMs: null }
  if (!(await isReadable(kubeconfig))) {
    return { line: { ...base, state: 'absent', detail: 'never started' }, cluster: undefined }
  }
  const { cluster, server } = await openAdminCluster(kubeconfig)
  try {
    const answer = await cluster.raw(
      { method: 'GET', path: '/readyz', headers: {} },
      AbortSignal.timeout(askMsMax),
    )
    const state = answer.status === 200 ? 'ready' : `not ready (${answer.status})`
    return { line: { ...base, state, version, detail: server, seenAtMs: Date.now() }, cluster }
  } catch (error) {
    const why = messageOf(error)
    return { line: { ...base, state: 'down', detail: why }, cluster: undefined }
  }
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await readFile(path)
    return true
  } catch {
    // It is missing or not ours, so there is nothing to ask with.
    return false
  }
}

function nodeLine(node: Node): StatusLine {
  const ready = (node.status?.conditions ?? []).find((each) => each.type === 'Ready')
  const heartbeat = Date.parse(ready?.lastHeartbeatTime ?? '')
  return {
    part: 'node',
    name: node.metadata.name ?? '',
    state:
      ready?.status === 'True' ? 'ready' : ready?.status === 'Unknown' ? 'unknown' : 'not ready',
    version: node.status?.nodeInfo?.kubeletVersion ?? '',
    detail: ready?.message ?? '',
    seenAtMs: Number.isNaN(heartbeat) ? null : heartbeat,
  }
}

/** Lists clusters as the hub sees them: through their tunnels, whose state it knows at once. */
async function listClusters(hub: ClusterClient): Promise<StatusLine[]> {
  const clusters = await hub
    .resource(clusterResource)
    .list({}, AbortSignal.timeout(askMsMax))
    .catch((error: unknown) => unknownLine('tunnel', error))
  if (!('items' in clusters)) return [clusters]
  return clusters.items.map(({ metadata, status }): StatusLine => {
    const condition = (type: string) => status?.conditions?.find((each) => each.type === type)
    const tunnel = condition(conditionTypes.connected)
    const isConnected = tunnel?.status === 'True'
    const told = isConnected ? (condition(conditionTypes.ready) ?? tunnel) : tunnel
    const sinceMs = Date.parse(tunnel?.lastTransitionTime ?? '')
    return {
      part: 'tunnel',
      name: metadata.name ?? '',
      state: isConnected ? 'connected' : 'not connected',
      version: status?.kubernetesVersion ?? '',
      detail: told?.message ?? '',
      seenAtMs: isConnected ? Date.now() : Number.isNaN(sinceMs) ? null : sinceMs,
    }
  })
}

/** Formats columns like kubectl's, with the age of each line last. */
export function formatStatus(report: StatusReport, nowMs: number): string {
  const rows = report.lines.map((line) => [
    line.part,
    line.name,
    line.state,
    line.version,
    line.seenAtMs === null
      ? 'never'
      : `${Math.max(0, Math.round((nowMs - line.seenAtMs) / 1_000))}s ago`,
    line.detail,
  ])
  const table = [['PART', 'NAME', 'STATE', 'VERSION', 'SEEN', 'DETAIL'], ...rows]
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...table.map((row) => (row[column] ?? '').length)),
  )
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  )
  const head =
    report.supervisorPid === null ? 'not running' : `running as process ${report.supervisorPid}`
  return [`${report.dataDir}: ${head}`, ...lines].join('\n')
}
