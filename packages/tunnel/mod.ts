/**
 * tunnel: many requests at once over one outbound WebSocket. The agent dials; the hub sends requests.
 * Requests, bodies and upgrades pass as bytes: the package knows nothing of Kubernetes, users or rights.
 * Start reading at docs/tunnel-protocol.md, which specifies the wire. frame/ reads and writes it and imports
 * nothing else of the package; traffic/ decides the order of sending; session/ has the two ends of a tunnel;
 * agent/ stays connected; hub/ accepts tunnels and knows which are open; web-socket/ and carrier/ carry the
 * bytes.
 */
export {
  dialTunnel,
  runTunnelAgent,
  type DialTunnelOptions,
  type TunnelAgentState,
} from './agent/tunnel-agent.ts'
export type { HubReplica } from './agent/open-tunnels.ts'
export {
  carrierLimits,
  trafficBounds,
  tunnelLimitDefaults,
  type TunnelLimits,
} from './limits-table.ts'
export { type AgentSession, type Classify, type TunnelHandler } from './session/agent-session.ts'
export { type TunnelSession, type TunnelTraffic } from './session/hub-session.ts'
export {
  defaultTrafficRules,
  trafficClasses,
  type TrafficClass,
  type TrafficRate,
  type TrafficRules,
} from './traffic/traffic-rules.ts'
export { createTunnelServer, type HandshakeResult } from './hub/tunnel-server.ts'
export {
  mayRepeat,
  TunnelRegistry,
  TunnelUnavailableError,
  type TunnelEnd,
} from './hub/tunnel-registry.ts'
export {
  isSwitched,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  WholeBody,
  type TunnelBody,
  type TunnelHeaders,
  type TunnelRequest,
  type TunnelResponse,
  type TunnelSwitched,
  type TunnelUpgraded,
} from './frame/tunnel-message.ts'
export { BadMessageError } from './frame/tunnel-headers.ts'
export { joinStreams } from './session/join-streams.ts'
export { carrierPath } from './carrier/carrier-path.ts'
export { CarrierRefusal, createCarrierServer } from './carrier/carrier-server.ts'
export { connectByCarrier } from './carrier/connect-by-carrier.ts'
export type { TunnelTls } from './frame/tunnel-link.ts'
