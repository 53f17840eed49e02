import { join } from 'node:path'
import { mkdir, rm } from 'node:fs/promises'
import { parseBootstrapToken } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import {
  discoverCluster,
  holdCertificate,
  publicMode,
  readCertificateAndKey,
  readFileIfPresent,
  requestCertificate,
  writeFileDurably,
  type CertificateAndKey,
  type CertificateHolder,
  type CertificateRequestOptions,
  type KeyPairPaths,
} from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  readBody,
  type ClientCredentials,
  type HttpsTransportConfig,
} from '@skerry/client'
import { agentUserName, agentsGroup } from '@skerry/karmada'
import { readCertificate } from '@skerry/pki'
import { readToken } from './node-identity.ts'
import type { RoleContext } from './role-context.ts'
import { version } from './version.ts'

export interface AgentIdentityOptions {
  /** Where certificate and the hub's authority are kept. */
  directory: string
  /** https://host:port */
  hub: string
  clusterName: string
  /** Both needed the first time only. */
  tokenFile: string | undefined
  /** The token itself, where it came by the environment. */
  tokenText: string | undefined
  caHash: string | undefined
}

/** Who this cluster's agent is to the hub, and whom it trusts there. */
export interface AgentIdentity {
  readonly authorityPem: string
  readonly client: CertificateHolder
  /** For a transport to the hub, always with the newest certificate. */
  readonly transport: HttpsTransportConfig
}

/** From disk, where an earlier start left it; else by token and hash, and a request to the hub. */
export async function openAgentIdentity(
  options: AgentIdentityOptions,
  context: RoleContext,
): Promise<AgentIdentity> {
  const { directory, hub } = options
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const token =
    parseBootstrapToken(options.tokenText?.trim() ?? '') ?? (await readToken(options.tokenFile))
  const authorityPem = await ensureTrust({ ...options, token }, context)
  const base = { server: hub, certificateAuthority: authorityPem }
  const held: { client?: CertificateHolder } = {}
  // First with the token, then with the certificate before; an expired one needs a new token.
  const credentials = async (signal: AbortSignal): Promise<ClientCredentials> => {
    const { client } = held
    if (client && !(token && isExpired(client.current, context.clock.now()))) {
      return client.credentials(signal)
    }
    if (token) return { bearerToken: `${token.id}.${token.secret}` }
    throw notRegistered(options, `the certificate in ${directory} is missing or expired`)
  }
  const paths = {
    certificatePath: join(directory, 'agent.crt'),
    keyPath: join(directory, 'agent.key'),
  }
  if (token) await dropRefused(paths, base, context)
  const client = await holdCertificate(
    paths,
    (signal) => requestOver({ ...base, credentials }, options.clusterName, context, signal),
    context,
    context.signal,
  )
  held.client = client
  const transport = { ...base, credentials: (signal: AbortSignal) => client.credentials(signal) }
  return { authorityPem, client, transport }
}

/** A revoked certificate is of no use any more; with a token there can be another. */
async function dropRefused(
  paths: KeyPairPaths,
  base: HttpsTransportConfig,
  context: RoleContext,
): Promise<void> {
  const found = await readCertificateAndKey(paths)
  if (found === undefined) return
  const credentials = { certificate: found.certificatePem, key: found.privateKeyPem }
  using transport = createHttpsTransport({ ...base, credentials: fixedCredentials(credentials) })
  const request = { method: 'GET', path: '/version', headers: {} } as const
  const answer = await transport.send(request, context.signal)
  await readBody(answer.body)
  if (answer.status !== 401) return
  context.log.info('Certificate is refused, asking for another', { path: paths.certificatePath })
  await rm(paths.certificatePath, { force: true })
}

async function ensureTrust(
  options: AgentIdentityOptions & { token: Awaited<ReturnType<typeof readToken>> },
  context: RoleContext,
): Promise<string> {
  const path = join(options.directory, 'ca.crt')
  const known = await readFileIfPresent(path)
  if (known !== undefined) return known
  const { hub: server, token, caHash } = options
  if (!token || caHash === undefined) {
    throw notRegistered(options, `there is no identity yet in ${options.directory}`)
  }
  const discovery = { server, token, authorityHashes: [caHash] }
  const { authorityPem } = await discoverCluster(discovery, context, context.signal)
  await writeFileDurably(path, authorityPem, publicMode)
  return authorityPem
}

function notRegistered({ hub, clusterName }: AgentIdentityOptions, why: string): ExpectedError {
  return new ExpectedError(
    `Cannot register with ${hub}: ${why}; pass the token and the CA hash that "skerry cluster join-command ${clusterName}" prints on the hub`,
    exitCodes.usage,
  )
}

function isExpired({ certificatePem }: CertificateAndKey, nowMs: number): boolean {
  return readCertificate(certificatePem).notAfterMs < nowMs
}

async function requestOver(
  config: HttpsTransportConfig,
  clusterName: string,
  context: RoleContext,
  signal: AbortSignal,
): Promise<CertificateAndKey> {
  using transport = createHttpsTransport(config)
  const userAgent = `skerry/${version} (agent certificates)`
  const cluster = createCluster(transport, { ...context, userAgent })
  const request: CertificateRequestOptions = {
    generateName: `${clusterName}-`,
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['digital signature', 'client auth'],
    subject: { commonName: agentUserName(clusterName), organizations: [agentsGroup] },
  }
  return await requestCertificate(cluster, request, context, signal)
}
