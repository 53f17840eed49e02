import type { TunnelRequest, TunnelResponse, TunnelUpgraded } from '@skerry/tunnel'

/** The way to clusters by their names: the tunnels of agents, or what stands in front of those. */
export interface ClusterWay {
  send(cluster: string, request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse>
  upgrade(cluster: string, request: TunnelRequest, signal: AbortSignal): Promise<TunnelUpgraded>
}
