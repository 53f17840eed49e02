import { join } from 'node:path'
import type { BootstrapToken } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import {
  ApiServers,
  createCluster,
  type ClientCredentials,
  type CredentialSource,
  type HttpsTransport,
} from '@skerry/client'
import { carriesNames, validityOf } from '@skerry/pki'
import { isWithin } from './certificate-lifetimes.ts'
import { holdCertificate, type CertificateHolder } from './certificate-holder.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { readKnownAuthority } from './known-authority.ts'
import { nodeSubject } from './node-return.ts'
import {
  requestCertificate,
  type CertificateRequestOptions,
  type RequestDeps,
} from './request-certificate.ts'
import { returnByKey } from './return-by-key.ts'
import { publicMode, writeFileDurably } from './secure-file.ts'
import type { CertificateAndKey } from './issue-certificate.ts'

export interface JoinNodeOptions {
  readonly nodeName: string
  /** Where the identity is stored. A node that has one joins without token or network. */
  readonly directory: string
  /** The URLs that the operator gave, at least one. */
  readonly servers: readonly string[]
  /** The URLs that the cluster named before. */
  readonly named?: readonly string[]
  /** Needed only the first time. */
  readonly token?: BootstrapToken
  readonly authorityHashes?: readonly string[]
}

/** This machine's identity in the cluster, and the authority it trusts. */
export interface NodeIdentity {
  readonly info: ClusterInfo
  /** The certificate of system:node:<name>, for calls to the API server. */
  readonly client: CertificateHolder
  /** The cluster's API servers, of which one is in use. */
  readonly servers: ApiServers
  /** Opens a transport to whichever server is in use, always with the newest certificate. */
  open(): HttpsTransport
}

/**
 * Gives a machine its identity: an authority to trust from token and hash, then a client
 * certificate by request. Uses what exists from before without any request.
 */
export async function joinNode(
  options: JoinNodeOptions,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<NodeIdentity> {
  const { directory, nodeName } = options
  const info = await ensureTrust(options, deps, signal)
  const paths = {
    certificatePath: join(directory, 'kubelet-client.crt'),
    keyPath: join(directory, 'kubelet-client.key'),
  }
  const { authorityPem: certificateAuthority } = info
  const servers = new ApiServers(
    {
      client: nodeName,
      given: [info.server, ...options.servers],
      named: options.named ?? [],
      certificateAuthority,
    },
    deps,
  )
  const open = (source: CredentialSource): HttpsTransport =>
    servers.transport({ certificateAuthority, credentials: source })
  // The first certificate is requested with the token, each later one with the one before. One that
  // expired while the machine was away, or is not valid yet, is replaced by its key, or with a new token.
  const held: { client?: CertificateHolder } = {}
  const credentials = async (scope: AbortSignal): Promise<ClientCredentials> =>
    held.client && !(options.token && isOutOfDates(held.client.current, deps.clock.now()))
      ? held.client.credentials(scope)
      : tokenCredentials(options)
  const request = clientRequest(nodeName)
  const next = async (scope: AbortSignal): Promise<CertificateAndKey> => {
    const current = held.client?.current
    if (current && isOutOfDates(current, deps.clock.now())) {
      const hasToken = options.token !== undefined
      const anonymous = servers.transport({ certificateAuthority })
      const returned = await returnByKey(anonymous, { nodeName, current, hasToken }, deps, scope)
      if (returned) return returned
    }
    return requestOver(open(credentials), request, deps, scope)
  }
  const client = await holdCertificate(paths, next, deps, signal)
  held.client = client
  return { info, client, servers, open: () => open((scope) => client.credentials(scope)) }
}

export interface ServingOptions {
  readonly nodeName: string
  /** The name of the files. Default: kubelet-serving. */
  readonly fileName?: string
  readonly directory: string
  /** The names of this machine for the API server and users. */
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
}

/** Holds a serving certificate of the kubelet or of another server on the node, which is requested as the node itself. */
export async function holdServingCertificate(
  identity: NodeIdentity,
  options: ServingOptions,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<CertificateHolder> {
  const { nodeName, directory, fileName = 'kubelet-serving', dnsNames, ipAddresses } = options
  const paths = {
    certificatePath: join(directory, `${fileName}.crt`),
    keyPath: join(directory, `${fileName}.key`),
    // A machine that got another address is reached at that one.
    isGood: (pem: string) => carriesNames(pem, { dnsNames, ipAddresses }),
    isReplaceable: true as const,
  }
  const request: CertificateRequestOptions = {
    generateName: 'csr-',
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
    subject: nodeSubject(nodeName),
    dnsNames,
    ipAddresses,
  }
  return holdCertificate(
    paths,
    (scope) => requestOver(identity.open(), request, deps, scope),
    deps,
    signal,
  )
}

/** Stores the authority once it is verified; neither token nor hash is needed from then on. */
async function ensureTrust(
  options: JoinNodeOptions,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<ClusterInfo> {
  const { directory, servers, token, authorityHashes = [] } = options
  const [server = ''] = servers
  const path = join(directory, 'ca.crt')
  const known = await readKnownAuthority(path, 'skerry token create --print-join-command')
  if (known !== undefined) return { server, authorityPem: known }
  if (!token || authorityHashes.length === 0) {
    throw new ExpectedError(
      `Cannot join ${server}: this machine has no identity yet in ${directory}; pass the token and the CA hash that "skerry token create --print-join-command" prints`,
      exitCodes.usage,
    )
  }
  // Imported only when joining: the kubeconfig parser takes 4 MB that a running node saves.
  const { discoverCluster } = await import('./discover-cluster.ts')
  const info = await discoverAtAny(servers, (each) =>
    discoverCluster({ server: each, token, authorityHashes }, deps, signal),
  )
  await writeFileDurably(path, info.authorityPem, publicMode)
  return info
}

/** Asks the next server only if one cannot be reached: a refusal is the cluster's. */
async function discoverAtAny(
  servers: readonly string[],
  discover: (server: string) => Promise<ClusterInfo>,
): Promise<ClusterInfo> {
  const unreachable: ExpectedError[] = []
  for (const server of servers) {
    try {
      return await discover(server)
    } catch (error) {
      if (!(error instanceof ExpectedError) || error.exitCode !== exitCodes.unreachable) throw error
      unreachable.push(error)
    }
  }
  throw unreachable[0] ?? new RangeError('Cannot join: there is no address of a server')
}

function tokenCredentials({ servers, directory, token }: JoinNodeOptions): ClientCredentials {
  const [server] = servers
  if (token) return { bearerToken: `${token.id}.${token.secret}` }
  throw new ExpectedError(
    `Cannot join ${server}: the certificate in ${directory} is missing or expired; pass a new token`,
    exitCodes.usage,
  )
}

function isOutOfDates({ certificatePem }: CertificateAndKey, nowMs: number): boolean {
  return !isWithin(validityOf(certificatePem), nowMs)
}

async function requestOver(
  opened: HttpsTransport,
  request: CertificateRequestOptions,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<CertificateAndKey> {
  using transport = opened
  const cluster = createCluster(transport, { ...deps, userAgent: 'skerry (certificates)' })
  return await requestCertificate(cluster, request, deps, signal)
}

function clientRequest(nodeName: string): CertificateRequestOptions {
  return {
    generateName: 'node-csr-',
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
    subject: nodeSubject(nodeName),
  }
}
