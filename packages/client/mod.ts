/**
 * client: accesses one Cluster. REST calls on typed resources, kubeconfig, watch, the informer cache,
 * the event recorder, and logging in at an OpenID Connect issuer. It decides nothing. Retries are up to
 * the caller, except that an informer retries by itself.
 * Start reading at transport.ts (the seam), then cluster.ts and informer.ts.
 */
export type { Transport, TransportRequest } from './transport.ts'
export {
  NotConnectedError,
  createHttpsTransport,
  isUnsent,
  tlsOptions,
  type HttpsTransport,
  type HttpsTransportConfig,
} from './https-transport.ts'
export { serverCertificateEnd } from './server-certificate.ts'
export { failsByDates, readServerTime } from './server-time.ts'
export { ApiServers } from './api-servers.ts'
export { openByWay, type ServerWay } from './connecting-agent.ts'
export { BadAnswerError, type AnswerHeaders } from './http1/answer-head.ts'
export { type HttpAnswer } from './http1/http-connection.ts'
export { HttpPool } from './http1/http-pool.ts'
export { ifThere } from './if-there.ts'
export {
  fixedCredentials,
  tokenFileCredentials,
  type ClientCredentials,
  type CredentialSource,
} from './credentials.ts'
export { loadKubeconfig, parseKubeconfig, type Kubeconfig } from './kubeconfig.ts'
export { formatKubeconfig, writeKubeconfig } from './write-kubeconfig.ts'
export {
  anyObjects,
  createCluster,
  type ClusterClient,
  type PartialObject,
  type TypedResource,
} from './cluster.ts'
export type { ResourceClient, Selectors } from './resource-client.ts'
export { type ObjectKey, type ResourceRef } from './request-path.ts'
export type { DiscoveredResource, Discovery } from './discovery.ts'
export { resources, type KnownResource } from './resources-table.ts'
export { createInformer, type Informer } from './informer.ts'
export {
  keyOfObject,
  keyText,
  parseKey,
  type Change,
  type IndexFunction,
  type IndexFunctions,
} from './object-cache.ts'
export { compareResourceVersions } from './resource-version.ts'
export { readBody, readLines, statusErrorOf } from './response-body.ts'
export {
  createEventSink,
  type EventRecorder,
  type EventSink,
  type EventText,
} from './event-recorder.ts'
export { createEventSeriesSink, type EventSeriesRecorder } from './event-series-sink.ts'
export {
  LoginEndedError,
  openOidcIssuer,
  type OidcChecks,
  type OidcClient,
  type OidcTokens,
} from './oidc/oidc-issuer.ts'
