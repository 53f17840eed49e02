/**
 * apiserver: Kubernetes' API over HTTP on any Store. HTTP → authn → authz → admission → registry
 * → store, and back through the watch cache. It runs no controller.
 * Start reading at api-server.ts, then registry/.
 */
export type { Attributes, AuthenticatedUser, Authenticator, Authorizer, Credentials, Decision, UserInfo } from './access.ts'
export type { AdmissionPlugin, AdmissionRequest, Operation } from './admission.ts'
export type { Objects } from './objects.ts'
export type { SubresourceAnswer, SubresourceHandler, SubresourceRequest, UpgradeSocket } from './subresource.ts'
