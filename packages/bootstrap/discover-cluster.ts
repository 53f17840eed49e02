import type { BootstrapToken, ConfigMap } from '@skerry/api'
import {
  ExpectedError,
  exitCodes,
  messageOf,
  type Clock,
  type Connect,
  type Logger,
} from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  failsByDates,
  readServerTime,
  resources,
  type HttpsTransportConfig,
} from '@skerry/client'
import { decodePem, spkiHash } from '@skerry/pki'
import {
  clusterInfoKey,
  clusterInfoProblem,
  readClusterInfo,
  type ClusterInfo,
} from './cluster-info.ts'
import { certificateLifetimes } from './limits-table.ts'

export interface DiscoverOptions {
  /** `https://host:port`, as the operator gave it. */
  readonly server: string
  readonly token: BootstrapToken
  /** `sha256:<hex>` over the keys of trusted authorities; at least one. */
  readonly authorityHashes: readonly string[]
  /** The command that creates such a token there, for error messages. If omitted, that of a site. */
  readonly tokenCommand?: string
  /** Connects to the server. If omitted, over TCP. */
  readonly connect?: Connect
}

export interface DiscoverDeps {
  readonly clock: Clock
  readonly log: Logger
}

const siteTokenCommand = 'skerry token create --print-join-command'

/**
 * Determines the authority to trust: reads cluster-info from a server that is not trusted yet,
 * checks that it was signed with our token and names a pinned authority, then reads it again over a
 * connection verified by this authority. Throws ExpectedError with what to do.
 */
export async function discoverCluster(
  options: DiscoverOptions,
  deps: DiscoverDeps,
  signal: AbortSignal,
): Promise<ClusterInfo> {
  const { server, token, authorityHashes } = options
  const way = options.connect ? { connect: options.connect } : {}
  if (authorityHashes.length === 0) {
    throw new RangeError('Cannot join: no hash of the cluster authority was given')
  }
  const seen = await readConfigMap({ server, isTlsVerifySkipped: true, ...way }, deps, signal)
  const problem = clusterInfoProblem(seen, token)
  if (problem === 'unsigned') throw unknownToken(options)
  if (problem === 'forged') throw refused(server, `its cluster-info is not signed with the token`)
  const info = readClusterInfo(seen)
  if (!info) throw refused(server, 'its cluster-info names no authority')
  const certificates = decodePem(info.authorityPem)
  const pinned = certificates.filter((pem) => authorityHashes.includes(spkiHash(pem)))
  if (pinned.length === 0) {
    const shown = certificates.map((pem) => spkiHash(pem)).join(', ')
    throw refused(server, `its authority is ${shown}, not ${authorityHashes.join(', ')}`)
  }
  const trusted = { server, certificateAuthority: pinned.join(''), ...way }
  const again = await readConfigMap(trusted, deps, signal)
  if (clusterInfoProblem(again, token) !== undefined) {
    throw refused(server, 'it sends other data to callers that know it')
  }
  // This address works from here; the one in cluster-info may not.
  return { server, authorityPem: pinned.join('') }
}

async function readConfigMap(
  config: HttpsTransportConfig,
  deps: DiscoverDeps,
  signal: AbortSignal,
): Promise<ConfigMap> {
  using transport = createHttpsTransport(config, deps)
  const cluster = createCluster(transport, { ...deps, userAgent: 'skerry (join)' })
  try {
    return await cluster.resource(resources.configMaps).get(clusterInfoKey, signal)
  } catch (cause) {
    if (signal.aborted) throw cause
    if (failsByDates(cause)) throw await outOfDates(config, cause, deps, signal)
    const why = messageOf(cause)
    throw new ExpectedError(
      `Cannot join ${config.server}: cluster-info cannot be read: ${why}`,
      exitCodes.unreachable,
      { cause },
    )
  }
}

/** A clock that is years off is the usual reason, and the dates of a certificate do not say so. */
async function outOfDates(
  config: HttpsTransportConfig,
  cause: unknown,
  { clock }: DiscoverDeps,
  signal: AbortSignal,
): Promise<ExpectedError> {
  const { server } = config
  const theirMs = await readServerTime(config, { clock }, signal).catch(() => undefined)
  signal.throwIfAborted()
  const ownMs = clock.now()
  const here = `this machine's clock shows ${new Date(ownMs).toISOString()}`
  const there = theirMs === undefined ? '' : `, and the server's ${new Date(theirMs).toISOString()}`
  const isAgreed = theirMs !== undefined && Math.abs(ownMs - theirMs) < certificateLifetimes.skewMs
  const advice = isAgreed
    ? 'renew it there with "skerry certificates renew"'
    : 'set the clock that is wrong, and join again'
  return new ExpectedError(
    `Cannot join ${server}: its certificate is not valid now: ${here}${there}; ${advice}`,
    exitCodes.unreachable,
    { cause },
  )
}

function unknownToken({ server, token, tokenCommand = siteTokenCommand }: DiscoverOptions) {
  return new ExpectedError(
    `Cannot join ${server}: token ${token.id} is unknown there or expired; create one with: ${tokenCommand}`,
    exitCodes.usage,
  )
}

function refused(server: string, why: string): ExpectedError {
  return new ExpectedError(
    `Cannot join ${server}: ${why}; check the address and the hash, somebody may be in between`,
    exitCodes.usage,
  )
}
