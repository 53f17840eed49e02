/**
 * apiserver: serves Kubernetes' API over HTTP on any Store. HTTP → authn → authz → admission → registry
 * → store, and back through the watch cache. It runs no controller.
 * Start reading at api-server.ts, which assembles the parts, then request/pipeline.ts and
 * request/dispatch.ts (authentication, authorization, the choice of handler),
 * handlers/resource-handler.ts (one function for each verb) and registry/create.ts.
 * contract/ has the types that the other folders exchange: requests, answers, attributes, admission,
 * limits. It imports no other folder.
 */
export { createOtlpTracing } from './tracing/open-tracing.ts'
export { readTracingConfig } from './tracing/tracing-config.ts'
export type { RequestTracing } from './tracing/request-trace.ts'
export {
  createApiServer,
  type ApiServer,
  type ApiServerOptions,
  type LoadedServer,
  type Serving,
} from './api-server.ts'
export { createApiFront, type ApiFront } from './api-front.ts'
export { createReadPath, type ObjectCopy, type PartCaller, type ReadPath } from './read-path.ts'
export { passUpgrade } from './subresources/backend/upgrade-tunnel.ts'
export { bearerTokenOf } from './authn/bearer-token.ts'
export { createServiceAccountVerifier } from './authn/service-account-authenticator.ts'
export { createNodeTokenVerifier } from './node-tokens/node-token-verifier.ts'
export { createSelfSubjectReview, createTokenReview } from './authn/authentication-reviews.ts'
export { createSelfSubjectAccessReview, createSubjectAccessReview } from './authz/access-reviews.ts'
export { createLogHandler } from './subresources/backend/pod-log.ts'
export { createPodStreamHandler } from './subresources/backend/pod-stream.ts'
export type { ReviewHandler } from './contract/review.ts'
export type { Access } from './request/server-access.ts'
export { createMetricsApi } from './metrics-api/metrics-api.ts'
export { ensureMetricsApiService } from './metrics-api/ensure-metrics-api-service.ts'
export type { LocalApi } from './aggregation/aggregated-api.ts'
export type { Route } from './contract/route.ts'
export { withSchemaHooks } from './crd/custom-strategy.ts'
export type { AuthorizedRequest } from './contract/authorized-request.ts'
export { accessEnded } from './request/lasting-requests.ts'
export { openWatchSocket } from './handlers/open-watch-socket.ts'
export type { ApiAnswer, ApiRequest } from './contract/exchange.ts'
export { isHubCookie, withoutHubCookies } from './contract/hub-cookies.ts'
export { isTrue, parseRequestInfo, type RequestInfo } from './contract/request-info.ts'
export { warningHeaders } from './http/warning-headers.ts'
export { lengthPrefix } from './protobuf/encode-object.ts'
export { protobufType, readAnyProtobuf } from './protobuf/decode-object.ts'
export { accessWebhookLimits, apiServerLimits, type ApiServerLimits } from './limits-table.ts'
export { YamlReader } from './yaml/yaml-reader.ts'
export { serviceAddressDefaults } from './service-addresses/service-allocator.ts'
export type { TlsFiles } from './http/http-server.ts'
export { trustedProxies, type TrustedProxies } from './http/proxied-connections.ts'
export { createEncryptedStore, type EncryptedStore } from './encryption/encrypted-store.ts'
export type { KeyFence } from './encryption/key-fence.ts'
export { isEncryptedValue } from './encryption/transformer-chain.ts'
export { readEncryptionConfig, type EncryptionPlan } from './encryption/encryption-config.ts'
export { followFile } from './config-file/follow-file.ts'
export type { AuditRecord, AuditSink } from './contract/audit.ts'
export { openAuditLog } from './audit/audit-log.ts'
export { readAuditPolicy } from './audit/audit-policy.ts'
export { createAuditTrail, type AuditTrail } from './audit/audit-trail.ts'
export type {
  Attributes,
  AuthenticatedUser,
  Authenticator,
  Authorizer,
  Credentials,
  UserInfo,
} from './contract/access.ts'
export type { AdmissionPlugin, AdmissionRequest } from './contract/admission.ts'
export type { Objects } from './contract/objects.ts'
export type { SubresourceHandler, UpgradeSocket } from './contract/subresource.ts'
export {
  requestHeaderDefaults,
  type RequestHeaderOptions,
} from './authn/request-header-authenticator.ts'
export { createX509Authenticator } from './authn/x509-authenticator.ts'
export { publishTokenTracking } from './authn/legacy-token-use.ts'
export {
  createStaticToken,
  createStaticTokenAuthenticator,
  type StaticToken,
} from './authn/static-token-authenticator.ts'
export { TokenError, type TokenAuthenticator } from './authn/token-authenticator.ts'
export { impersonatedUser, type HeaderFields, type Impersonation } from './authn/impersonation.ts'
export {
  readAuthenticationConfig,
  type AuthenticationConfig,
} from './authn/jwt/authentication-config.ts'
export { createConfiguredUsers, type ConfiguredUsers } from './authn/jwt/configured-users.ts'
export { readAuthorizationConfig } from './access-webhooks/authorization-config.ts'
export { accessQuestion } from './access-webhooks/access-question.ts'
export {
  createConfiguredAuthorizers,
  type ConfiguredAuthorizers,
} from './access-webhooks/configured-authorizers.ts'
export { createAuditWebhook } from './audit/audit-webhook.ts'
export { createPostReview } from './access-webhooks/post-review.ts'
export { createTokenWebhook } from './access-webhooks/token-webhook.ts'
export { mastersAuthorizer } from './authz/rbac-authorizer.ts'
export { rewriteAddress } from './subresources/backend/rewrite-links.ts'
export { type FurtherRules } from './authz/rules-review.ts'
export { goOnPastUnreadable } from './contract/unreadable-object.ts'
export { ensureBootstrapObjects } from './bootstrap-policy/bootstrap-objects.ts'
export { optionalPluginNames } from './default-plugins.ts'
export { createDirectDial, type BackendDial } from './subresources/backend/backend-dial.ts'
export {
  createDefaultAccess,
  issuerRoutes,
  type DefaultAccessDeps,
  type DefaultAccessOptions,
} from './default-access.ts'
export type { ExtraAccess } from './extra-access.ts'
