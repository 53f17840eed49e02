/**
 * apiserver: Kubernetes' API over HTTP on any Store. HTTP → authn → authz → admission → registry
 * → store, and back through the watch cache. It runs no controller.
 * Start reading at api-server.ts, which puts the parts together, then request/pipeline.ts and request/dispatch.ts (who
 * asks, may they, which handler), handlers/resource-handler.ts (one function for each verb) and registry/create.ts.
 * contract/ has what the rooms tell each other: requests, answers, attributes, admission, limits. It imports no room.
 */
export { createOtlpTracing, type OtlpTracingOptions } from './tracing/open-tracing.ts'
export { readTracingConfig, type TracingConfig } from './tracing/tracing-config.ts'
export type { RequestTracing } from './tracing/request-trace.ts'
export {
  createApiServer,
  type ApiServer,
  type ApiServerDeps,
  type ApiServerOptions,
} from './api-server.ts'
export type { Access } from './request/server-access.ts'
export type { AggregationOptions } from './aggregation/aggregation.ts'
export { createMetricsApi, type MetricsApiDeps } from './metrics-api/metrics-api.ts'
export { ensureMetricsApiService } from './metrics-api/ensure-metrics-api-service.ts'
export type { LocalApi } from './aggregation/aggregated-api.ts'
export type { Route } from './contract/route.ts'
export { withSchemaHooks } from './crd/custom-strategy.ts'
export type { AuthorizedRequest } from './contract/authorized-request.ts'
export { accessEnded } from './request/lasting-requests.ts'
export { openWatchSocket } from './handlers/open-watch-socket.ts'
export type { ApiAnswer, ApiRequest } from './contract/exchange.ts'
export { isTrue, parseRequestInfo, type RequestInfo } from './contract/request-info.ts'
export { protobufType, readAnyProtobuf } from './protobuf/decode-object.ts'
export { apiServerLimits, type ApiServerLimits } from './contract/limits-table.ts'
export { YamlReader } from './yaml/yaml-reader.ts'
export {
  serviceAddressDefaults,
  type ServiceAddressOptions,
} from './service-addresses/service-allocator.ts'
export type { TlsFiles } from './http/http-server.ts'
export { trustedProxies, type TrustedProxies } from './http/proxied-connections.ts'
export { createEncryptedStore, type EncryptedStore } from './encryption/encrypted-store.ts'
export { isEncryptedValue } from './encryption/transformer-chain.ts'
export { readEncryptionConfig, type EncryptionPlan } from './encryption/encryption-config.ts'
export { followFile, type FollowedFile } from './config-file/follow-file.ts'
export type { AuditRecord, AuditSink } from './contract/audit.ts'
export { openAuditLog, type AuditLog, type AuditLogOptions } from './audit/audit-log.ts'
export { readAuditPolicy, type AuditPolicy } from './audit/audit-policy.ts'
export { createAuditTrail, type AuditTrail, type AuditTrailOptions } from './audit/audit-trail.ts'
export type {
  Attributes,
  AuthenticatedUser,
  Authenticator,
  Authorizer,
  Credentials,
  Decision,
  UserInfo,
} from './contract/access.ts'
export type {
  AdmissionPlugin,
  AdmissionRequest,
  Annotate,
  Operation,
} from './contract/admission.ts'
export type { Objects } from './contract/objects.ts'
export type {
  SubresourceAnswer,
  SubresourceHandler,
  SubresourceRequest,
  UpgradeClient,
  UpgradeSocket,
} from './contract/subresource.ts'
export {
  requestHeaderDefaults,
  withFrontProxies,
  type RequestHeaderOptions,
} from './authn/request-header-authenticator.ts'
export { createX509Authenticator } from './authn/x509-authenticator.ts'
export {
  createTokenIssuer,
  type TokenIssuer,
  type TokenRequestClaims,
} from './authn/token-issuer.ts'
export { publishTokenTracking } from './authn/legacy-token-use.ts'
export { createServiceAccountAuthenticator } from './authn/service-account-authenticator.ts'
export { createBootstrapTokenAuthenticator } from './authn/bootstrap-token-authenticator.ts'
export {
  createStaticToken,
  createStaticTokenAuthenticator,
  type FindStaticToken,
  type StaticToken,
} from './authn/static-token-authenticator.ts'
export { createAuthenticatorChain, unionTokens } from './authn/authenticator-chain.ts'
export { createSelfSubjectReview, createTokenReview } from './authn/authentication-reviews.ts'
export { issuerDocuments, type IssuerDocument } from './authn/issuer-discovery.ts'
export { TokenError, type TokenAuthenticator } from './authn/token-authenticator.ts'
export {
  createImpersonation,
  impersonatedUser,
  withoutImpersonation,
  type HeaderFields,
  type Impersonation,
} from './authn/impersonation.ts'
export {
  readAuthenticationConfig,
  type AuthenticationConfig,
  type JwtIssuerConfig,
} from './authn/jwt/authentication-config.ts'
export { createConfiguredUsers, type ConfiguredUsers } from './authn/jwt/configured-users.ts'
export {
  readAuthorizationConfig,
  type AuthorizerConfig,
} from './access-webhooks/authorization-config.ts'
export { accessQuestion } from './access-webhooks/access-question.ts'
export {
  createConfiguredAuthorizers,
  type ConfiguredAuthorizers,
} from './access-webhooks/configured-authorizers.ts'
export { createAuditWebhook, type AuditWebhook } from './audit/audit-webhook.ts'
export { createPostReview } from './access-webhooks/post-review.ts'
export { createTokenWebhook } from './access-webhooks/token-webhook.ts'
export { accessWebhookLimits } from './access-webhooks/access-webhook-limits-table.ts'
export { createRuleResolver, type RuleResolver } from './authz/rule-resolver.ts'
export { createRbacAuthorizer, mastersAuthorizer } from './authz/rbac-authorizer.ts'
export { createNodeAuthorizer } from './authz/node-authorizer.ts'
export { chainAuthorizers, forbidden, requireAllowed } from './authz/authorizer-chain.ts'
export { rewriteAddress } from './subresources/backend/rewrite-links.ts'
export { createEscalationCheck } from './authz/escalation-check.ts'
export { createSelfSubjectAccessReview, createSubjectAccessReview } from './authz/access-reviews.ts'
export {
  createSelfSubjectRulesReview,
  type FurtherRules,
  type RulesReviewOptions,
} from './authz/rules-review.ts'
export { goOnPastUnreadable } from './contract/unreadable-object.ts'
export type { ReviewHandler, ReviewRequest } from './contract/review.ts'
export {
  aggregateClusterRoles,
  bootstrapObjects,
  ensureBootstrapObjects,
  nodeRules,
} from './bootstrap-policy/bootstrap-objects.ts'
export { createDefaultPlugins, optionalPluginNames } from './default-plugins.ts'
export type { PluginDeps } from './webhooks/plugin-deps.ts'
export {
  createSubresourceTable,
  type SubresourceTableOptions,
} from './subresources/subresource-table.ts'
export {
  createDirectDial,
  type AddressTarget,
  type BackendDial,
  type NodeTarget,
} from './subresources/backend/backend-dial.ts'
export {
  createDefaultAccess,
  issuerRoutes,
  type DefaultAccessDeps,
  type DefaultAccessOptions,
  type ServiceAccountOptions,
  type ExtraAccess,
} from './default-access.ts'
export { createLegacyBinding } from './subresources/binding.ts'
