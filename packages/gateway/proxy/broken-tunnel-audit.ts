import type { UserInfo } from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import type { TunnelSession } from '@skerry/tunnel'
import { brokenTunnelLimits, gatewayBounds } from '../limits-table.ts'

/** The opener of a tunnel, as the hub authenticated its request. */
export interface TunnelOpener {
  readonly cluster: string
  readonly user: UserInfo
  readonly auditId: string
  readonly uri: string
  /** The IP address; empty if the request did not come over a socket. */
  readonly source: string
  readonly userAgent: string
}

/** An agent broke a rule of the tunnel's protocol, which ended it. */
export type OnBrokenTunnel = (opener: TunnelOpener, session: TunnelSession) => void

export interface BrokenTunnelAuditDeps {
  readonly write: (line: string) => void
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
}

const { ruleCharsMax } = gatewayBounds.brokenTunnelAudit

interface Window {
  readonly startMs: number
  lines: number
  /** The number of lines left out since the last one. */
  omitted: number
}

/**
 * Writes an audit line for a tunnel that ended because its agent broke a rule of the protocol. It looks like
 * that of any request that was cut, under the audit id of the request that opened the tunnel. Each cluster
 * gets at most ten lines a minute; the next line then reports how many were `omitted`.
 */
export function createBrokenTunnelAudit({ write, clock }: BrokenTunnelAuditDeps): OnBrokenTunnel {
  const windows = new Map<string, Window>()
  return (opener, session) => {
    const nowMs = clock.monotonicMs()
    const window = windowOf(windows, opener.cluster, nowMs)
    if (window.lines >= brokenTunnelLimits.linesMax) {
      window.omitted += 1
      return
    }
    window.lines += 1
    write(lineOf(opener, session, { nowMs: clock.now(), omitted: window.omitted }))
    window.omitted = 0
  }
}

/**
 * Returns the current window. Windows that are over and have no omitted lines are forgotten; the oldest come
 * first.
 */
function windowOf(windows: Map<string, Window>, cluster: string, nowMs: number): Window {
  const isOver = ({ startMs }: Window): boolean => nowMs - startMs >= brokenTunnelLimits.perMs
  const known = windows.get(cluster)
  if (known && !isOver(known)) return known
  for (const [name, window] of windows) {
    if (!isOver(window)) break
    if (window.omitted === 0) windows.delete(name)
  }
  const begun = { startMs: nowMs, lines: 0, omitted: known?.omitted ?? 0 }
  windows.delete(cluster)
  windows.set(cluster, begun)
  return begun
}

function lineOf(
  { cluster, user, auditId, uri, source, userAgent }: TunnelOpener,
  { openedAtMs, bytesIn, bytesOut, brokenRule = '' }: TunnelSession,
  { nowMs, omitted }: { nowMs: number; omitted: number },
): string {
  const line = {
    time: new Date(openedAtMs).toISOString(),
    auditID: auditId,
    user: user.name,
    groups: user.groups,
    source,
    userAgent,
    cluster,
    method: 'GET',
    uri,
    status: 101,
    bytesIn,
    bytesOut,
    ms: Math.max(0, Math.round(nowMs - openedAtMs)),
    cut: `the agent broke a rule of the tunnel: ${brokenRule.slice(0, ruleCharsMax)}`,
    ...(omitted === 0 ? {} : { omitted }),
  }
  return `${JSON.stringify(line)}\n`
}
