import type { Clock, Logger, Random } from '@skerry/base'
import type { Authenticator, Authorizer } from './contract/access.ts'
import type { ConfiguredAuthorizers } from './access-webhooks/configured-authorizers.ts'
import { createDefaultPlugins } from './default-plugins.ts'
import { createSelfSubjectReview, createTokenReview } from './authn/authentication-reviews.ts'
import { createAuthenticatorChain, unionTokens } from './authn/authenticator-chain.ts'
import { createBootstrapTokenAuthenticator } from './authn/bootstrap-token-authenticator.ts'
import type { ConfiguredUsers } from './authn/jwt/configured-users.ts'
import { createImpersonation } from './authn/impersonation.ts'
import { issuerDocuments } from './authn/issuer-discovery.ts'
import {
  withFrontProxies,
  type RequestHeaderOptions,
} from './authn/request-header-authenticator.ts'
import { createServiceAccountAuthenticator } from './authn/service-account-authenticator.ts'
import type { TokenAuthenticator } from './authn/token-authenticator.ts'
import { createTokenFileAuthenticator } from './authn/token-file-authenticator.ts'
import { createTokenIssuer } from './authn/token-issuer.ts'
import { createX509Authenticator } from './authn/x509-authenticator.ts'
import { createSelfSubjectAccessReview, createSubjectAccessReview } from './authz/access-reviews.ts'
import { chainAuthorizers } from './authz/authorizer-chain.ts'
import { createNodeAuthorizer } from './authz/node-authorizer.ts'
import { createRbacAuthorizer, mastersAuthorizer } from './authz/rbac-authorizer.ts'
import { createRuleResolver } from './authz/rule-resolver.ts'
import { createSelfSubjectRulesReview } from './authz/rules-review.ts'
import { nodeRules } from './bootstrap-policy/bootstrap-objects.ts'
import { joinedAccess, type ExtraAccess } from './extra-access.ts'
import {
  createNodeTokenAuthenticator,
  type NodeTokenRules,
} from './node-tokens/node-token-authenticator.ts'
import { nodeTokenGuard } from './node-tokens/node-token-guard.ts'
import type { Route } from './contract/route.ts'
import type { Objects } from './contract/objects.ts'
import type { Access } from './request/server-access.ts'
import type { BackendDial } from './subresources/backend/backend-dial.ts'
import { createLegacyBinding } from './subresources/binding.ts'
import { createSubresourceTable } from './subresources/subresource-table.ts'
import { createConverters } from './webhooks/conversion-webhook.ts'
import { createWebhookClient, type WebhookClientDeps } from './webhooks/webhook-client.ts'

export interface DefaultAccessOptions {
  readonly serviceAccounts: ServiceAccountOptions
  /** If false, requests without credentials are refused. Default: true, as upstream. */
  readonly isAnonymousAllowed?: boolean
  /** The text of kube-apiserver's token file. */
  readonly tokenFile?: string
  /** The users of OpenID Connect issuers, and the paths that are open to anonymous callers. */
  readonly configuredUsers?: ConfiguredUsers
  /** Asked after every other token authenticator. */
  readonly tokenWebhook?: TokenAuthenticator
  /** Replaces the node authorizer and RBAC. The authorizers of `extra` are asked after it. */
  readonly configuredAuthorizers?: ConfiguredAuthorizers
  /**
   * The front proxies that may name the users they ask for. If omitted, only certificates and
   * tokens name users.
   */
  readonly requestHeader?: RequestHeaderOptions
  /** Connects to nodes and pods. Omitted if there are none. */
  readonly dial?: BackendDial
  /** The client certificate for webhooks, read for each connection. Default: none, as upstream. */
  readonly webhookIdentity?: WebhookClientDeps['identity']
  /** Admission plugins in addition to those that are on by default. */
  readonly enabledPlugins?: readonly string[]
  /** Accepts tokens that nodes signed for their pods while they were alone. If omitted, none are accepted. */
  readonly nodeTokens?: NodeTokenRules
  /** The checks of this server's parts in addition to the usual ones. */
  readonly extra?: readonly ExtraAccess[]
}

export interface ServiceAccountOptions {
  /** The `iss` of the tokens, and their audience if they request none. */
  readonly issuer: string
  readonly signingKeyPem: string
  /** PEM of former keys whose tokens are still valid. */
  readonly formerKeyPems?: readonly string[]
}

export interface DefaultAccessDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Combines authentication, authorization and admission as upstream does by default. */
export function createDefaultAccess(
  options: DefaultAccessOptions,
  deps: DefaultAccessDeps,
): (objects: Objects) => Access {
  return (objects) => {
    const { clock, random } = deps
    const { issuer, signingKeyPem } = options.serviceAccounts
    const audiences = [issuer]
    const extra = joinedAccess(options.extra ?? [])
    const rules = createRuleResolver(objects)
    const builtin = {
      Node: createNodeAuthorizer(objects, nodeRules()),
      RBAC: createRbacAuthorizer(rules),
    }
    const configured = options.configuredAuthorizers?.authorizerOf(builtin)
    const authorizers = [
      mastersAuthorizer,
      nodeTokenGuard,
      ...(configured ? [configured] : [builtin.Node, builtin.RBAC]),
      ...extra.authorizers,
    ]
    const authorizer = chainAuthorizers(authorizers)
    const certificates = extra.certificates(createX509Authenticator(clock))
    const more = { more: extra.tokens, certificates, authorizer }
    const tokens = tokenAuthenticators(objects, { ...options, ...more }, deps)
    const impersonation = createImpersonation(authorizer)
    const { dial, webhookIdentity: identity } = options
    const webhooks = createWebhookClient({
      objects,
      clock,
      random,
      ...(dial ? { dial } : {}),
      ...(identity ? { identity } : {}),
    })
    const tokenIssuer = createTokenIssuer({ issuer, signingKeyPem }, clock)
    const callers = authenticatorFor(tokens, { ...options, certificates }, deps)
    return {
      authenticators: [extra.callers(callers)],
      authorizers,
      impersonation: extra.impersonation(impersonation, authorizer),
      converterOf: createConverters({ client: webhooks, random }),
      admission: [
        ...createDefaultPlugins(
          { objects, authorizer, rules, clock, random, webhooks },
          options.enabledPlugins,
        ),
        ...extra.admission(authorizer),
      ],
      subresources: createSubresourceTable(
        { tokens: { tokenIssuer, audiences }, ...(options.dial ? { dial: options.dial } : {}) },
        deps,
      ),
      reviews: {
        bindings: createLegacyBinding(objects, clock),
        'tokenreviews.authentication.k8s.io': createTokenReview({ tokens, audiences }),
        'selfsubjectreviews.authentication.k8s.io': createSelfSubjectReview(clock),
        'subjectaccessreviews.authorization.k8s.io': createSubjectAccessReview(authorizer),
        'localsubjectaccessreviews.authorization.k8s.io': createSubjectAccessReview(authorizer),
        'selfsubjectaccessreviews.authorization.k8s.io': createSelfSubjectAccessReview(authorizer),
        'selfsubjectrulesreviews.authorization.k8s.io': createSelfSubjectRulesReview(rules, {
          hasWebhook: () => options.configuredAuthorizers?.hasWebhook() ?? false,
          furtherRules: extra.furtherRules,
        }),
        ...extra.reviews,
      },
    }
  }
}

interface TokenParts {
  /** Authenticators of tokens that only this server knows. */
  readonly more: readonly TokenAuthenticator[]
  readonly certificates: Authenticator
  readonly authorizer: Authorizer
}

function tokenAuthenticators(
  objects: Objects,
  options: DefaultAccessOptions & TokenParts,
  { clock, log }: DefaultAccessDeps,
): TokenAuthenticator {
  const { serviceAccounts, more, tokenFile, configuredUsers, tokenWebhook, nodeTokens } = options
  const { issuer } = serviceAccounts
  const parts = { ...options, objects, issuer, clock }
  return unionTokens([
    ...(tokenFile === undefined ? [] : [createTokenFileAuthenticator(tokenFile)]),
    ...more,
    ...(nodeTokens ? [createNodeTokenAuthenticator(nodeTokens, parts)] : []),
    createServiceAccountAuthenticator({
      issuers: [issuer],
      keyPems: verificationKeys(serviceAccounts),
      objects,
      clock,
      log,
    }),
    createBootstrapTokenAuthenticator(objects, clock),
    ...(configuredUsers ? [configuredUsers.tokens] : []),
    ...(tokenWebhook ? [tokenWebhook] : []),
  ])
}

function verificationKeys({ signingKeyPem, formerKeyPems = [] }: ServiceAccountOptions): string[] {
  return [signingKeyPem, ...formerKeyPems]
}

function authenticatorFor(
  tokens: TokenAuthenticator,
  options: DefaultAccessOptions & { certificates: Authenticator },
  { clock, log }: DefaultAccessDeps,
): Authenticator {
  const { serviceAccounts, requestHeader, configuredUsers, isAnonymousAllowed = true } = options
  const usual = options.certificates
  return createAuthenticatorChain({
    certificates: requestHeader ? withFrontProxies(usual, requestHeader, clock) : usual,
    tokens,
    audiences: [serviceAccounts.issuer],
    isAnonymousAllowed: (path) => configuredUsers?.isAnonymousAllowed(path) ?? isAnonymousAllowed,
    log,
  })
}

/** Returns the routes where others find the keys that verify our service account tokens. */
export function issuerRoutes(options: ServiceAccountOptions, keySetUrl: string): Route[] {
  const keyPems = verificationKeys(options)
  const documents = issuerDocuments({ issuer: options.issuer, keyPems, keySetUrl })
  return documents.map(({ path, contentType, body }) => ({
    prefix: path,
    serve: async () => ({
      status: 200,
      headers: { 'content-type': contentType, 'cache-control': 'public, max-age=3600' },
      body: Buffer.from(body),
    }),
  }))
}
