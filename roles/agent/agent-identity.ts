import { join } from 'node:path'
import { rm } from 'node:fs/promises'
import { parseBootstrapToken, type CertificateSigningRequest } from '@skerry/api'
import { ExpectedError, exitCodes, type Connect } from '@skerry/base'
import {
  ensureDirectory,
  holdCertificate,
  isWithin,
  publicMode,
  readCertificateInUse,
  readFileIfPresent,
  readKnownAuthority,
  requestCertificate,
  writeCertificateAndKey,
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
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { keyFingerprint, registrationKeys } from '@skerry/membership'
import { decodePem, publicKeyOf, spkiHash, validityOf } from '@skerry/pki'
import { readToken } from '../runtime/node-identity.ts'
import { pendingKey } from '../runtime/pending-key.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { reEnrol, type ReEnrolOptions } from './re-enrol.ts'

export interface AgentIdentityOptions {
  /** The directory of the certificate and the hub's authority. */
  directory: string
  /** The hub's URL, https://host:port. */
  hub: string
  clusterName: string
  /** Both needed the first time only. */
  tokenFile: string | undefined
  /** The token itself, if it came through the environment. */
  tokenText: string | undefined
  caHash: string | undefined
  /**
   * Resolves with the UID of the cluster's kube-system namespace, for the person who accepts it. If omitted,
   * it is not reported.
   */
  readClusterId?: (signal: AbortSignal) => Promise<string | undefined>
  /** Connects to the hub. If omitted, over TCP. */
  connect?: Connect
}

/** The identity of this cluster's agent at the hub, and the authority that it trusts there. */
export interface AgentIdentity {
  readonly authorityPem: string
  readonly client: CertificateHolder
  /** The configuration of a transport to the hub, always with the newest certificate. */
  readonly transport: HttpsTransportConfig
}

/**
 * Opens the identity from disk if an earlier start left one; otherwise requests one from the hub with token
 * and hash.
 */
export async function openAgentIdentity(
  options: AgentIdentityOptions,
  context: RoleContext,
): Promise<AgentIdentity> {
  const { directory, hub, clusterName } = options
  await ensureDirectory(directory)
  const token =
    parseBootstrapToken(options.tokenText?.trim() ?? '') ?? (await readTokenIfNeeded(options))
  const authorityPem = await ensureTrust({ ...options, token }, context)
  const way = options.connect ? { connect: options.connect } : {}
  const base = { server: hub, certificateAuthority: authorityPem, ...way }
  const held: { client?: CertificateHolder } = {}
  // Authenticates with the token at first, then with the previous certificate. An expired or premature
  // certificate gets the next one through its key.
  const credentials = async (signal: AbortSignal): Promise<ClientCredentials> => {
    const { client } = held
    if (client && !isOutOfDates(client.current, context.clock.now())) {
      return client.credentials(signal)
    }
    if (token) return { bearerToken: `${token.id}.${token.secret}` }
    throw notRegistered(options, `the certificate in ${directory} is missing or expired`)
  }
  const enrolling = { ...base, clusterName, hasToken: token !== undefined }
  const next = async (signal: AbortSignal): Promise<CertificateAndKey> => {
    const { current } = held.client ?? {}
    if (current && isOutOfDates(current, context.clock.now())) {
      const renewed = await reEnrol({ ...enrolling, current }, context, signal)
      if (renewed) return renewed
    }
    const privateKeyPem = await pendingKey(directory, current?.privateKeyPem, context)
    const asked = { ...options, privateKeyPem }
    return requestOver({ ...base, credentials }, asked, context, signal)
  }
  const paths = {
    certificatePath: join(directory, 'agent.crt'),
    keyPath: join(directory, 'agent.key'),
  }
  // A pair that is invalid by this clock stays on disk until there is another: the clock may be wrong.
  const isUseless =
    (await isOver(paths, enrolling, context)) ||
    (token !== undefined && (await isRefused(paths, base, context)))
  const home = { ...paths, isGood: () => !isUseless }
  const client = await holdCertificate(home, next, context, context.signal)
  held.client = client
  const transport = { ...base, credentials: (signal: AbortSignal) => client.credentials(signal) }
  return { authorityPem, client, transport }
}

/** Reads the token, whose file may be gone once there is an identity, because only the first start needs it. */
async function readTokenIfNeeded({ tokenFile, directory }: AgentIdentityOptions) {
  const isRegistered = (await readFileIfPresent(join(directory, 'agent.crt'))) !== undefined
  const isGone = tokenFile !== undefined && (await readFileIfPresent(tokenFile)) === undefined
  return isRegistered && isGone ? undefined : readToken(tokenFile)
}

/**
 * Reports whether the certificate is invalid, before anything else is tried with it: no server accepts an
 * expired or premature one. A certificate that the hub replaces through its key is replaced.
 */
async function isOver(
  paths: KeyPairPaths,
  enrolling: Omit<ReEnrolOptions, 'current'>,
  context: RoleContext,
): Promise<boolean> {
  const current = await readCertificateInUse(paths, context.clock.now())
  if (current === undefined || !isOutOfDates(current, context.clock.now())) return false
  const renewed = await reEnrol({ ...enrolling, current }, context, context.signal)
  if (renewed) await writeCertificateAndKey(paths, renewed)
  return renewed === undefined
}

/** Reports whether the certificate was revoked and is useless; with a token there can be another. */
async function isRefused(
  paths: KeyPairPaths,
  base: HttpsTransportConfig,
  context: RoleContext,
): Promise<boolean> {
  const found = await readCertificateInUse(paths, context.clock.now())
  if (found === undefined) return false
  const credentials = { certificate: found.certificatePem, key: found.privateKeyPem }
  using transport = createHttpsTransport(
    { ...base, credentials: fixedCredentials(credentials) },
    context,
  )
  const request = { method: 'GET', path: '/version', headers: {} } as const
  const answer = await transport.send(request, context.signal)
  await readBody(answer.body)
  if (answer.status !== 401) return false
  context.log.info('Certificate is refused, asking for another', { path: paths.certificatePath })
  return true
}

async function ensureTrust(
  options: AgentIdentityOptions & { token: Awaited<ReturnType<typeof readToken>> },
  context: RoleContext,
): Promise<string> {
  const { directory, hub: server, token, caHash, connect } = options
  const path = join(directory, 'ca.crt')
  const tokenCommand = `skerry cluster join-command ${options.clusterName}`
  const known = await readKnownAuthority(path, tokenCommand)
  const hasMoved = known !== undefined && token && caHash !== undefined && !isPinned(known, caHash)
  if (known !== undefined && !hasMoved) return known
  if (!token || caHash === undefined) {
    throw notRegistered(options, `there is no identity yet in ${directory}`)
  }
  const way = connect ? { connect } : {}
  const discovery = { server, token, authorityHashes: [caHash], tokenCommand, ...way }
  // Only the first start needs it.
  const { discoverCluster } = await import('@skerry/bootstrap')
  const { authorityPem } = await discoverCluster(discovery, context, context.signal)
  if (hasMoved) {
    context.log.info('Another hub than before: its identity is left behind', { directory })
    await rm(join(directory, 'agent.crt'), { force: true })
  }
  await writeFileDurably(path, authorityPem, publicMode)
  return authorityPem
}

/** Reports whether the authority matches the operator's hash: with a new token and another hash it does not. */
function isPinned(authorityPem: string, caHash: string): boolean {
  return decodePem(authorityPem).some((pem) => spkiHash(pem) === caHash)
}

function notRegistered({ hub, clusterName }: AgentIdentityOptions, why: string): ExpectedError {
  return new ExpectedError(
    `Cannot register with ${hub}: ${why}; pass the token and the CA hash that "skerry cluster join-command ${clusterName}" prints on the hub`,
    exitCodes.usage,
  )
}

function isOutOfDates({ certificatePem }: CertificateAndKey, nowMs: number): boolean {
  return !isWithin(validityOf(certificatePem), nowMs)
}

async function requestOver(
  config: HttpsTransportConfig,
  options: AgentIdentityOptions & { privateKeyPem: string },
  context: RoleContext,
  signal: AbortSignal,
): Promise<CertificateAndKey> {
  using transport = createHttpsTransport(config, context)
  const userAgent = `skerry/${version} (agent certificates)`
  const cluster = createCluster(transport, { ...context, userAgent })
  const { clusterName, privateKeyPem } = options
  const id = await clusterIdOf(options, signal)
  const told = { waits: false }
  const request: CertificateRequestOptions = {
    generateName: `${clusterName}-`,
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['digital signature', 'client auth'],
    subject: { commonName: agentUserName(clusterName), organizations: [agentsGroup] },
    privateKeyPem,
    annotations: {
      [registrationKeys.agentVersion]: version,
      ...(id === undefined ? {} : { [registrationKeys.clusterId]: id }),
    },
    onPending(csr) {
      const why = csr.metadata.annotations?.[registrationKeys.waitsFor]
      if (why === undefined || told.waits) return
      told.waits = true
      tellThatItWaits(csr, { clusterName, why, publicKeyPem: publicKeyOf(privateKeyPem) }, context)
    },
  }
  return await requestCertificate(cluster, request, context, signal)
}

/** The cluster's API server may not answer yet: the hub is asked all the same. */
async function clusterIdOf(
  { readClusterId }: AgentIdentityOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  return readClusterId?.(signal).catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}

/** Logs the fingerprint that the hub shows, so that two people can compare them. */
function tellThatItWaits(
  csr: CertificateSigningRequest,
  { clusterName, why, publicKeyPem }: { clusterName: string; why: string; publicKeyPem: string },
  { log }: RoleContext,
): void {
  log.info('Waiting to be accepted at the hub', {
    command: `skerry cluster accept ${clusterName}`,
    request: csr.metadata.name,
    key: keyFingerprint(publicKeyPem),
    why,
  })
}
