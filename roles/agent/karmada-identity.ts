import { join } from 'node:path'
import { isStatusError, parseBootstrapToken, type BootstrapToken } from '@skerry/api'
import { ExpectedError, exitCodes, type Connect } from '@skerry/base'
import {
  ensureDirectory,
  holdCertificate,
  isWithin,
  publicMode,
  readFileIfPresent,
  readKnownAuthority,
  requestCertificate,
  writeFileDurably,
  type CertificateAndKey,
  type CertificateHolder,
} from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  resources,
  type ClientCredentials,
  type ClusterClient,
  type HttpsTransportConfig,
} from '@skerry/client'
import { agentUserName, agentsGroup, clusterResource, roleGeneratorName } from '@skerry/fleet-kinds'
import { generatorRequestPrefix, writeKarmadaRights } from '@skerry/membership'
import { validityOf } from '@skerry/pki'
import { readToken } from '../runtime/node-identity.ts'
import { pendingKey } from '../runtime/pending-key.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import type { AgentIdentity } from './agent-identity.ts'
import { agentBounds } from './limits-table.ts'

export interface KarmadaIdentityOptions {
  /** The directory of the certificate, the key and Karmada's authority. */
  directory: string
  /** The URL of Karmada's API server, https://host:port. */
  server: string
  clusterName: string
  /** The token of `karmadactl token create`; token and hash are needed only the first time. */
  tokenFile: string | undefined
  tokenText: string | undefined
  caHash: string | undefined
  /** Karmada's authority, if it is already known. */
  authorityPem?: string
  /** Resolves with the UID of the cluster's kube-system namespace. */
  readClusterId: (signal: AbortSignal) => Promise<string>
  /** Connects to Karmada. If omitted, over TCP. */
  connect?: Connect
}

const { generatorSeconds } = agentBounds.karmadaIdentity

/**
 * Opens the identity of this cluster's agent at Karmada: from disk if an earlier start left it, otherwise by
 * the protocol of `karmadactl register`. The certificate itself authorizes its renewal, as Karmada allows.
 */
export async function openKarmadaIdentity(
  options: KarmadaIdentityOptions,
  context: RoleContext,
): Promise<AgentIdentity> {
  const { directory, server, connect } = options
  await ensureDirectory(directory)
  const token = await tokenOf(options)
  const authorityPem = await ensureTrust(options, token, context)
  const base = { server, certificateAuthority: authorityPem, ...(connect ? { connect } : {}) }
  const held: { client?: CertificateHolder } = {}
  const isGood = (pem: string): boolean => isWithin(validityOf(pem), context.clock.now())
  const next = async (signal: AbortSignal): Promise<CertificateAndKey> => {
    const current = held.client?.current
    const privateKeyPem = await pendingKey(directory, current?.privateKeyPem, context)
    if (current && isGood(current.certificatePem)) {
      return requestAs(
        { base, credentials: clientOf(current) },
        { ...options, privateKeyPem },
        context,
        signal,
      )
    }
    if (!token)
      throw notRegistered(options, `the certificate in ${directory} is missing or expired`)
    try {
      await prepareRights({ ...options, base, token }, context, signal)
      const asker = { base, credentials: bearerOf(token) }
      return await requestAs(asker, { ...options, privateKeyPem }, context, signal)
    } catch (error) {
      if (!isStatusError(error, 'Unauthorized')) throw error
      throw notRegistered(options, `token ${token.id} is unknown there or expired`)
    }
  }
  const paths = {
    certificatePath: join(directory, 'agent.crt'),
    keyPath: join(directory, 'agent.key'),
    // Without a token there is no replacement.
    isGood: (pem: string) => token === undefined || isGood(pem),
  }
  const client = await holdCertificate(paths, next, context, context.signal)
  held.client = client
  const transport = { ...base, credentials: (scope: AbortSignal) => client.credentials(scope) }
  return { authorityPem, client, transport }
}

async function tokenOf({ tokenText, tokenFile, directory }: KarmadaIdentityOptions) {
  const given = parseBootstrapToken(tokenText?.trim() ?? '')
  if (given) return given
  const isRegistered = (await readFileIfPresent(join(directory, 'agent.crt'))) !== undefined
  const isGone = tokenFile !== undefined && (await readFileIfPresent(tokenFile)) === undefined
  return isRegistered && isGone ? undefined : readToken(tokenFile)
}

async function ensureTrust(
  options: KarmadaIdentityOptions,
  token: BootstrapToken | undefined,
  context: RoleContext,
): Promise<string> {
  const { directory, server, caHash, connect } = options
  if (options.authorityPem !== undefined) return options.authorityPem
  const path = join(directory, 'ca.crt')
  const tokenCommand = 'karmadactl token create --print-register-command'
  const known = await readKnownAuthority(path, tokenCommand)
  if (known !== undefined) return known
  if (!token || caHash === undefined) {
    throw notRegistered(options, `there is no identity yet in ${directory}`)
  }
  const way = connect ? { connect } : {}
  const discovery = { server, token, authorityHashes: [caHash], tokenCommand, ...way }
  // Only the first start needs it.
  const { discoverCluster } = await import('@skerry/bootstrap')
  const { authorityPem } = await discoverCluster(discovery, context, context.signal)
  await writeFileDurably(path, authorityPem, publicMode)
  return authorityPem
}

interface Rights extends KarmadaIdentityOptions {
  readonly base: HttpsTransportConfig
  readonly token: BootstrapToken
}

/**
 * Writes the rights as the user that may do everything at Karmada: its key is never stored, and has no other
 * use. Throws ExpectedError if another cluster has the name.
 */
async function prepareRights(
  { base, token, clusterName, readClusterId }: Rights,
  context: RoleContext,
  signal: AbortSignal,
): Promise<void> {
  const generateName = `${generatorRequestPrefix}${clusterName}-`
  using asker = openCluster({ base, credentials: bearerOf(token) }, context)
  const issued = await requestCertificate(
    asker.cluster,
    {
      generateName,
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth'],
      subject: { commonName: roleGeneratorName, organizations: [agentsGroup] },
      lifetimeSeconds: generatorSeconds,
    },
    context,
    signal,
  )
  using generator = openCluster({ base, credentials: clientOf(issued) }, context)
  await checkName(generator.cluster, { clusterName, readClusterId }, signal)
  await writeKarmadaRights(generator.cluster, clusterName, signal)
  await deleteRequest(generator.cluster, issued.certificatePem, signal)
  context.log.info('Rights written', { cluster: clusterName })
}

async function checkName(
  hub: ClusterClient,
  { clusterName: name, readClusterId }: Pick<Rights, 'clusterName' | 'readClusterId'>,
  signal: AbortSignal,
): Promise<void> {
  const found = await hub
    .resource(clusterResource)
    .get({ name }, signal)
    .catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
  if (found === undefined || found.spec.id === (await readClusterId(signal))) return
  throw new ExpectedError(
    `Cannot register cluster "${name}": Karmada knows another cluster under that name; delete it there, or choose another name`,
    exitCodes.usage,
  )
}

/** Deletes the request that issued this certificate; others belong to somebody else, whatever their names. */
async function deleteRequest(
  hub: ClusterClient,
  certificatePem: string,
  signal: AbortSignal,
): Promise<void> {
  const requests = hub.resource(resources.certificateSigningRequests)
  const issued = Buffer.from(certificatePem).toString('base64')
  const { items } = await requests.list({}, signal)
  const own = items.find(({ status }) => status?.certificate === issued)
  if (own === undefined) return
  await requests.delete({ name: own.metadata.name ?? '' }, signal).catch((error: unknown) => {
    if (!isStatusError(error, 'NotFound')) throw error
  })
}

async function requestAs(
  asker: Asker,
  { clusterName, privateKeyPem }: { clusterName: string; privateKeyPem: string },
  context: RoleContext,
  signal: AbortSignal,
): Promise<CertificateAndKey> {
  using opened = openCluster(asker, context)
  const request = {
    generateName: `${clusterName}-`,
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['digital signature', 'client auth'],
    subject: { commonName: agentUserName(clusterName), organizations: [agentsGroup] },
    privateKeyPem,
  }
  return await requestCertificate(opened.cluster, request, context, signal)
}

interface Asker {
  readonly base: HttpsTransportConfig
  readonly credentials: ClientCredentials
}

function openCluster(
  { base, credentials }: Asker,
  { log, clock }: RoleContext,
): { cluster: ClusterClient } & Disposable {
  const transport = createHttpsTransport(
    { ...base, credentials: fixedCredentials(credentials) },
    { clock },
  )
  const userAgent = `skerry/${version} (agent certificates)`
  const cluster = createCluster(transport, { log, clock, userAgent })
  return { cluster, [Symbol.dispose]: () => transport[Symbol.dispose]() }
}

function bearerOf({ id, secret }: BootstrapToken): ClientCredentials {
  return { bearerToken: `${id}.${secret}` }
}

function clientOf({ certificatePem, privateKeyPem }: CertificateAndKey): ClientCredentials {
  return { certificate: certificatePem, key: privateKeyPem }
}

function notRegistered(
  { server, clusterName }: KarmadaIdentityOptions,
  why: string,
): ExpectedError {
  return new ExpectedError(
    `Cannot register cluster "${clusterName}" with ${server}: ${why}; pass the token and the hash that "karmadactl token create --print-register-command" prints, by --token-file and --ca-hash`,
    exitCodes.usage,
  )
}
