import { join } from 'node:path'
import { mkdir } from 'node:fs/promises'
import type { Kind } from '@skerry/api'
import {
  chainAuthorizers,
  createApiServer,
  createAuthenticatorChain,
  createBootstrapTokenAuthenticator,
  createDefaultPlugins,
  createImpersonation,
  createNodeAuthorizer,
  createRbacAuthorizer,
  createRuleResolver,
  createSelfSubjectAccessReview,
  createSelfSubjectRulesReview,
  createServiceAccountAuthenticator,
  createSubjectAccessReview,
  createSubresourceTable,
  createTokenIssuer,
  createTokenReview,
  createX509Authenticator,
  ensureBootstrapObjects,
  mastersAuthorizer,
  nodeRules,
  selfSubjectReview,
  serviceAddressDefaults,
  unionTokens,
  type Access,
  type AdmissionPlugin,
  type ApiServer,
  type AuditSink,
  type Authenticator,
  type Authorizer,
  type Objects,
  type Route,
  type SubresourceTableOptions,
} from '@skerry/apiserver'
import { ExpectedError, exitCodes, abortReason, type Task } from '@skerry/base'
import { ensureClusterPki, type ClusterPki } from '@skerry/bootstrap'
import { StoreFullError, openSqliteStore, type SqliteStore } from '@skerry/store'
import type { RoleContext } from './role-context.ts'
import { version } from './version.ts'

export interface ControlPlaneOptions {
  /** Holds store.db and pki/. */
  directory: string
  /** Common name of the authority that a first start makes. */
  authorityName: string
  bindAddress: string
  port: number
  dnsNames: readonly string[]
  ipAddresses: readonly string[]
  kinds: readonly Kind[]
  routes?: readonly Route[]
  audit?: AuditSink
  /** Range of service addresses; absent on a hub, whose services are templates. */
  serviceCidr?: string
  /** How pods' logs and streams are reached; absent on a hub, which has no nodes. */
  dial?: (pki: ClusterPki) => SubresourceTableOptions['dial']
  /** What this control plane adds to the usual checks. */
  extraAccess?: (objects: Objects) => ExtraAccess
}

export interface ExtraAccess {
  /** Asked after the usual ones. */
  authorizers: readonly Authorizer[]
  /** After the default plugins. */
  admission: readonly AdmissionPlugin[]
  /** May refuse certificates that the authority has signed. */
  certificates(usual: Authenticator): Authenticator
}

export interface ControlPlane extends AsyncDisposable {
  server: ApiServer
  pki: ClusterPki
  objects: Objects
  store: SqliteStore
}

/** The `iss` of service account tokens: upstream's in-cluster name, so that tokens verify anywhere. */
const tokenIssuer = 'https://kubernetes.default.svc.cluster.local'

/** Opens store and keys, and serves the API; what every control plane, site or hub, has in common. */
export async function startControlPlane(
  options: ControlPlaneOptions,
  context: RoleContext,
): Promise<ControlPlane> {
  try {
    return await openControlPlane(options, context)
  } catch (error) {
    if (!(error instanceof StoreFullError)) throw error
    throw new ExpectedError(
      `Cannot start: the disk under ${options.directory} is full; free some space and start again`,
      exitCodes.diskFull,
      { cause: error },
    )
  }
}

async function openControlPlane(
  options: ControlPlaneOptions,
  context: RoleContext,
): Promise<ControlPlane> {
  await using stack = new AsyncDisposableStack()
  const { clock, random, log, metrics, signal } = context
  await mkdir(options.directory, { recursive: true, mode: 0o700 })
  const pki = await ensureClusterPki(
    {
      directory: join(options.directory, 'pki'),
      authorityName: options.authorityName,
      dnsNames: options.dnsNames,
      ipAddresses: options.ipAddresses,
    },
    clock,
  )
  const store = stack.use(
    await openSqliteStore(join(options.directory, 'store.db'), {}, { clock, log }),
  )
  const server = stack.use(
    await createApiServer(
      {
        kinds: options.kinds,
        tls: {
          cert: pki.serving.certificatePem,
          key: pki.serving.privateKeyPem,
          clientCa: pki.authority.certificatePem,
        },
        address: options.bindAddress,
        port: options.port,
        access: (objects) =>
          createAccess(objects, {
            pki,
            dial: options.dial?.(pki),
            extra: options.extraAccess?.(objects) ?? noExtraAccess,
            context,
          }),
        routes: options.routes ?? [],
        ...(options.serviceCidr === undefined
          ? {}
          : { services: { ...serviceAddressDefaults, clusterIpRanges: [options.serviceCidr] } }),
        version: { gitVersion: `v1.36.3+skerry-${version}` },
        ...(options.audit === undefined ? {} : { audit: options.audit }),
      },
      { store, clock, random, log, metrics },
      signal,
    ),
  )
  await ensureBootstrapObjects(server.objects)
  await server.listen()
  const owned = stack.move()
  return {
    server,
    pki,
    objects: server.objects,
    store,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const noExtraAccess: ExtraAccess = Object.freeze({
  authorizers: Object.freeze([]),
  admission: Object.freeze([]),
  certificates: (usual: Authenticator) => usual,
})

/** Fails with the server, ends with the scope: for those who run beside it. */
export function failWith(server: ApiServer): Task {
  return (scope) =>
    new Promise((_resolve, reject) => {
      server.failed.catch(reject)
      const onAbort = (): void => reject(abortReason(scope))
      if (scope.aborted) onAbort()
      else scope.addEventListener('abort', onAbort, { once: true })
    })
}

interface AccessParts {
  pki: ClusterPki
  dial: SubresourceTableOptions['dial']
  extra: ExtraAccess
  context: RoleContext
}

/** Upstream's defaults: certificates, then tokens; node authorizer, then RBAC; the default plugins. */
function createAccess(objects: Objects, { pki, dial, extra, context }: AccessParts): Access {
  const { clock, random, log } = context
  const tokens = unionTokens([
    createServiceAccountAuthenticator({
      issuers: [tokenIssuer],
      keyPems: [pki.serviceAccountKeyPem],
      objects,
      clock,
    }),
    createBootstrapTokenAuthenticator(objects, clock),
  ])
  const rules = createRuleResolver(objects)
  const authorizer = chainAuthorizers([
    mastersAuthorizer,
    createNodeAuthorizer(objects, nodeRules()),
    createRbacAuthorizer(rules),
    ...extra.authorizers,
  ])
  const audiences = [tokenIssuer]
  const issuer = createTokenIssuer(
    { issuer: tokenIssuer, signingKeyPem: pki.serviceAccountKeyPem },
    clock,
  )
  const subjectAccessReview = createSubjectAccessReview(authorizer)
  return {
    authenticators: [
      createAuthenticatorChain({
        certificates: extra.certificates(createX509Authenticator(clock)),
        tokens,
        audiences,
        isAnonymousAllowed: true,
        log,
      }),
    ],
    authorizers: [authorizer],
    admission: [
      ...createDefaultPlugins({ objects, authorizer, rules, clock, random }),
      ...extra.admission,
    ],
    subresources: createSubresourceTable(
      { tokens: { tokenIssuer: issuer, audiences }, ...(dial === undefined ? {} : { dial }) },
      { clock, random },
    ),
    reviews: {
      'tokenreviews.authentication.k8s.io': createTokenReview({ tokens, audiences }),
      'selfsubjectreviews.authentication.k8s.io': selfSubjectReview,
      'subjectaccessreviews.authorization.k8s.io': subjectAccessReview,
      'localsubjectaccessreviews.authorization.k8s.io': subjectAccessReview,
      'selfsubjectaccessreviews.authorization.k8s.io': createSelfSubjectAccessReview(authorizer),
      'selfsubjectrulesreviews.authorization.k8s.io': createSelfSubjectRulesReview(rules),
    },
    impersonation: createImpersonation(authorizer),
  }
}
