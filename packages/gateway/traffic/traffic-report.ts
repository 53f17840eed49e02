import type { TrafficClass, TunnelSession } from '@skerry/tunnel'

/** The allowed and actual traffic of one tunnel, for operators. */
export interface TrafficReport {
  /** The rate from the cluster; null means unlimited. */
  readonly uplinkBytesPerSecond: number | null
  readonly downlinkBytesPerSecond: number | null
  /** False: the agent is of a version that knows no contract, and the uplink is not held to it. */
  readonly isObeyed: boolean
  /** Bytes since the tunnel was opened, by class. */
  readonly classes: Readonly<Record<TrafficClass, { readonly in: number; readonly out: number }>>
}

export function trafficReport(
  session: Pick<TunnelSession, 'traffic' | 'rules' | 'obeysTraffic'>,
): TrafficReport {
  const { sent, received } = session.traffic
  const { toAgent, toHub } = session.rules
  const of = (name: TrafficClass) => ({ in: received[name], out: sent[name] })
  return {
    uplinkBytesPerSecond: toHub.rate?.bytesPerSecond ?? null,
    downlinkBytesPerSecond: toAgent.rate?.bytesPerSecond ?? null,
    isObeyed: session.obeysTraffic,
    classes: {
      control: of('control'),
      interactive: of('interactive'),
      logs: of('logs'),
      bulk: of('bulk'),
    },
  }
}
