/**
 * tunnel: many requests at once over one outbound WebSocket. The agent dials; the hub asks. Requests,
 * bodies and upgrades pass as bytes: it knows nothing of Kubernetes, users or rights.
 * Start reading at tunnel-link.ts (what it stands on), tunnel-frame.ts and multiplexer.ts (what passes
 * over it), agent-session.ts and hub-session.ts (the two ends), then tunnel-agent.ts (stays connected) and tunnel-registry.ts (who is connected).
 */
export {
  dialTunnel,
  runTunnelAgent,
  type DialTunnelOptions,
  type HandlerOfTunnel,
  type TunnelAgentDeps,
  type TunnelAgentOptions,
  type TunnelAgentState,
} from './tunnel-agent.ts'
export type { HubReplica } from './open-tunnels.ts'
export {
  type AgentSession,
  type Classify,
  type SessionDeps,
  type TunnelHandler,
} from './agent-session.ts'
export type { ByteRates } from './byte-rate.ts'
export {
  acceptTunnel,
  type AcceptOptions,
  type TunnelSession,
  type TunnelTraffic,
} from './hub-session.ts'
export type { TrafficBytes } from './traffic-meter.ts'
export {
  defaultTrafficRules,
  trafficBounds,
  trafficClasses,
  type TrafficClass,
  type TrafficRate,
  type TrafficRules,
} from './traffic-rules.ts'
export {
  createTunnelServer,
  tunnelServerDefaults,
  type HandshakeResult,
  type TunnelAuthentication,
  type TunnelServer,
  type TunnelServerOptions,
} from './tunnel-server.ts'
export {
  mayRepeat,
  registryDefaults,
  TunnelRegistry,
  TunnelUnavailableError,
  type RegistryOptions,
  type TunnelEnd,
} from './tunnel-registry.ts'
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
} from './tunnel-message.ts'
export { BadMessageError } from './tunnel-headers.ts'
export { joinStreams } from './join-streams.ts'
export { TunnelDialError } from './tunnel-dial-error.ts'
export { carrierLimits, carrierPath } from './carrier/carrier-limits.ts'
export {
  CarrierRefusal,
  createCarrierServer,
  type CarrierServer,
} from './carrier/carrier-server.ts'
export { connectByCarrier } from './carrier/connect-by-carrier.ts'
export type { TunnelDial, TunnelEndpoint, TunnelLink, TunnelTls } from './tunnel-link.ts'
export { tunnelLimitDefaults, type TunnelLimits } from './tunnel-limits.ts'
