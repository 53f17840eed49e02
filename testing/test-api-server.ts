import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtinKinds } from '@skerry/kinds'
import type { Kind } from '@skerry/api'
import {
  createApiServer,
  createDefaultAccess,
  ensureBootstrapObjects,
  issuerRoutes,
  createX509Authenticator,
  mastersAuthorizer,
  serviceAddressDefaults,
  type Access,
  type ApiServer,
  type ApiServerOptions,
  type BackendDial,
  type DefaultAccessDeps,
  type DefaultAccessOptions,
  type EncryptedStore,
  type Objects,
  type Serving,
  type UserInfo,
} from '@skerry/apiserver'
import {
  createMetrics,
  silentLogger,
  systemClock,
  systemRandom,
  type Clock,
  type Logger,
} from '@skerry/base'
import type { Transport } from '@skerry/client'
import { clientKeyAnnotation } from '@skerry/bootstrap'
import {
  createAuthority,
  generateKeyPair,
  signCertificate,
  spkiHash,
  type Authority,
} from '@skerry/pki'
import { openSqliteStore, type SqliteStore, type Store } from '@skerry/store'

export interface TestApiServerOptions {
  /** Default: every built-in kind. */
  readonly kinds?: readonly Kind[]
  /** Default: client certificates, with all rights for system:masters and none for others; no admission. */
  readonly access?: (objects: Objects) => Access
  /** Uses the default access instead: RBAC with its policy, node authorizer, admission, tokens. */
  readonly withAccess?: boolean
  readonly limits?: ApiServerOptions['limits']
  readonly routes?: Serving['routes']
  /** Group versions that the process serves itself, with `aggregation`. Default: none. */
  readonly localApis?: (objects: Objects) => NonNullable<Serving['localApis']>
  /** Other API servers behind this one. Default: none. */
  readonly aggregation?: ApiServerOptions['aggregation']
  readonly auditTrail?: NonNullable<ApiServerOptions['records']>['auditTrail']
  readonly tracing?: NonNullable<ApiServerOptions['records']>['tracing']
  readonly hasFlowControl?: boolean
  /** Dials nodes and pods, for `withAccess`. Default: no subresource needs it. */
  readonly dial?: BackendDial
  readonly checksPolicyTypes?: boolean
  /** Adds encryption between the server and its store. */
  readonly encrypted?: (store: Store) => EncryptedStore
  readonly clock?: Clock
  readonly log?: Logger
  /** The parent of its own directory. Default: the system's directory of temporary files. */
  readonly parentDirectory?: string
  /** The namespaces created before the server is returned. Default: default and kube-system. */
  readonly namespaces?: readonly string[]
}

export interface TestApiServer extends AsyncDisposable {
  readonly server: ApiServer
  readonly objects: Objects
  readonly store: SqliteStore
  /** The API as the administrator (system:masters), in-process. */
  readonly transport: Transport
  /** Returns the API as any user, in-process. */
  transportAs(user: UserInfo): Transport
  /** The URL `https://127.0.0.1:<port>`. */
  readonly url: string
  /** PEM, for clients over the socket. */
  readonly credentials: TestCredentials
  /** The authority of the server's and the administrator's certificates, for tests that issue more. */
  readonly authority: Authority
  /** A file that kubectl takes as --kubeconfig. */
  readonly kubeconfigPath: string
}

export interface TestCredentials {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

export const administrator: UserInfo = Object.freeze({
  name: 'kubernetes-admin',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})

/** Starts an API server in this process on an ephemeral port, with an embedded store in its own directory. */
export async function startTestApiServer(
  options: TestApiServerOptions = {},
): Promise<TestApiServer> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(options.parentDirectory ?? tmpdir(), 'skerry-test-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const { clock = systemClock, log = silentLogger } = options
  const store = stack.use(await openSqliteStore(join(directory, 'store.db'), {}, { clock, log }))
  const encrypted = options.encrypted?.(store)
  const tls = await testCertificates(clock)
  const authorityPem = tls.credentials.ca
  const usual = await accessOf(options, authorityPem, { clock, random: systemRandom, log })
  const access = options.access ?? usual.access
  const routes = [...(options.routes ?? []), ...usual.routes]
  const server = stack.use(
    await createApiServer(
      {
        kinds: options.kinds ?? (await builtinKinds()),
        listening: {
          tls: { cert: tls.serverCert, key: tls.serverKey, clientCa: tls.credentials.ca },
        },
        serving: ({ objects }) => ({
          access: access(objects),
          routes,
          localApis: options.localApis?.(objects) ?? [],
        }),
        services: serviceAddressDefaults,
        ...(options.limits ? { limits: options.limits } : {}),
        records: { auditTrail: options.auditTrail, tracing: options.tracing },
        hasFlowControl: options.hasFlowControl ?? false,
        checksPolicyTypes: options.checksPolicyTypes ?? true,
        ...(options.aggregation ? { aggregation: options.aggregation } : {}),
      },
      {
        store: encrypted ?? store,
        ...(encrypted ? { isStale: (key: string) => encrypted.isStale(key) } : {}),
        clock,
        random: systemRandom,
        log,
        metrics: createMetrics(),
      },
      new AbortController().signal,
    ),
  )
  await server.listen()
  if (options.withAccess) await ensureBootstrapObjects(server.objects)
  for (const name of options.namespaces ?? ['default', 'kube-system']) {
    if (server.objects.get({ group: '', resource: 'namespaces' }, '', name)) continue
    await server.objects.create(
      { group: '', resource: 'namespaces' },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    )
  }
  const kubeconfigPath = join(directory, 'kubeconfig')
  await writeKubeconfig(kubeconfigPath, server.address, tls.credentials)
  const owned = stack.move()
  return {
    server,
    objects: server.objects,
    store,
    transport: server.transport(administrator),
    transportAs: (user) => server.transport(user),
    url: server.address,
    credentials: tls.credentials,
    authority: tls.authority,
    kubeconfigPath,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Starts another API server, which holds the stored objects of this one as they are, uids included. */
export async function startCopyOf(
  { store }: TestApiServer,
  isTaken: (key: string) => boolean = () => true,
): Promise<TestApiServer> {
  const copy = await startTestApiServer()
  const { entries } = await store.list({ prefix: '/' })
  for (const { key, value } of entries) if (isTaken(key)) await copy.store.write({ key, value })
  return copy
}

/** Returns an access in which certificates name users, and only system:masters may do anything. */
export function openAccess(clock: Clock): Access {
  return {
    authenticators: [createX509Authenticator(clock)],
    authorizers: [mastersAuthorizer],
    admission: [],
    subresources: {},
  }
}

async function accessOf(
  { withAccess, dial }: TestApiServerOptions,
  authorityPem: string,
  deps: DefaultAccessDeps,
): Promise<{ access: (objects: Objects) => Access; routes: NonNullable<Serving['routes']> }> {
  if (!withAccess) return { access: () => openAccess(deps.clock), routes: [] }
  const { privateKeyPem: signingKeyPem } = await generateKeyPair()
  const issuer = 'https://kubernetes.default.svc.cluster.local'
  const serviceAccounts = { issuer, signingKeyPem }
  const nodeTokens: DefaultAccessOptions['nodeTokens'] = {
    authorityPem,
    isKeyOf: ({ metadata }, certificatePem) =>
      metadata.annotations?.[clientKeyAnnotation] === spkiHash(certificatePem),
  }
  return {
    access: createDefaultAccess({ serviceAccounts, nodeTokens, ...(dial ? { dial } : {}) }, deps),
    routes: issuerRoutes(serviceAccounts, `${issuer}/openid/v1/jwks`),
  }
}

async function testCertificates(clock: Clock) {
  const notBeforeMs = clock.now() - 3_600_000
  const notAfterMs = clock.now() + 24 * 3_600_000
  const dates = { notBeforeMs, notAfterMs }
  const authority = await createAuthority({ subject: { commonName: 'test-ca' }, ...dates })
  const serverKeys = await generateKeyPair()
  const serverCert = await signCertificate(authority, {
    subject: { commonName: 'kube-apiserver' },
    publicKeyPem: serverKeys.publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    dnsNames: ['localhost', 'kubernetes', 'kubernetes.default'],
    ipAddresses: ['127.0.0.1'],
  })
  const adminKeys = await generateKeyPair()
  const cert = await signCertificate(authority, {
    subject: { commonName: administrator.name, organizations: ['system:masters'] },
    publicKeyPem: adminKeys.publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  const ca = authority.certificatePem
  return {
    authority,
    serverCert,
    serverKey: serverKeys.privateKeyPem,
    credentials: { ca, cert, key: adminKeys.privateKeyPem },
  }
}

async function writeKubeconfig(
  path: string,
  server: string,
  credentials: TestCredentials,
): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server, 'certificate-authority-data': base64(credentials.ca) },
      },
    ],
    users: [
      {
        name: 'admin',
        user: {
          'client-certificate-data': base64(credentials.cert),
          'client-key-data': base64(credentials.key),
        },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  }
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
}
