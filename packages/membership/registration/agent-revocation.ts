import {
  StatusError,
  isStatusError,
  type CertificateSigningRequest,
  type ConfigMap,
} from '@skerry/api'
import type { Authenticator, Objects, UserInfo } from '@skerry/apiserver'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { readClientCertificate } from '@skerry/pki'
import { clusterOfAgent, virtualAgentOf, clusterNamespace } from '@skerry/fleet-kinds'
import { membershipBounds } from '../limits-table.ts'

/**
 * Two entries per cluster: when its agent was revoked, and how often. Certificates that were issued before the last
 * time are void.
 */
export const revocationsKey = Object.freeze({ namespace: clusterNamespace, name: 'revoked-agents' })

/**
 * The prefix of an entry's key; no cluster's name has an underscore. The value holds the generation and the
 * time of the other entry.
 */
const generationPrefix = 'generation_of_'

/**
 * The numbers of revocations when a certificate was issued: the agent's own, and for a virtual cluster its
 * parent's.
 */
interface Generations {
  readonly own: number
  readonly parent: number
}

/** Marks serial numbers that hold generations; one in 2^40 has it by chance. */
const serialMark = Buffer.from('SKGEN').toString('hex')

export interface RevocationOptions {
  /** The time by which certificates are backdated, in milliseconds, for clocks that are behind. */
  readonly backdateMs: number
}

/**
 * Refuses agents whose certificate was revoked. It compares generations, not serials: all certificates of a
 * stolen machine are void, whatever the clock was then, and a new token starts over.
 */
export function refuseRevoked(
  inner: Authenticator,
  objects: Objects,
  options: RevocationOptions,
): Authenticator {
  return {
    async authenticate(credentials, signal) {
      const found = await inner.authenticate(credentials, signal)
      const [leaf] = credentials.clientCertificates
      const behind = found ? clustersBehind(found.user) : []
      if (behind.length === 0 || leaf === undefined) return found
      const certificate = readClientCertificate(leaf)
      const revoked = behind.find((each) =>
        isRevoked(objects, { ...certificate, ...each, ...options }),
      )
      if (revoked === undefined) return found
      throw new StatusError('Unauthorized', 'Unauthorized', {
        cause: new Error(
          `Cannot authenticate: the agent of cluster "${revoked.cluster}" was revoked`,
        ),
      })
    },
  }
}

interface ClusterBehind {
  readonly cluster: string
  /** The part of the serial number that holds this cluster's generation. */
  readonly part: keyof Generations
}

/**
 * Returns the clusters whose revocation voids this user's certificate: a virtual cluster falls with its
 * parent, too.
 */
function clustersBehind(user: Pick<UserInfo, 'name' | 'groups'>): readonly ClusterBehind[] {
  const own = clusterOfAgent(user)
  if (own !== undefined) return [{ cluster: own, part: 'own' }]
  const virtual = virtualAgentOf(user)
  if (virtual === undefined) return []
  return [
    { cluster: virtual.cluster, part: 'own' },
    { cluster: virtual.parent, part: 'parent' },
  ]
}

/**
 * Returns the start of the serial number for a certificate that this user gets now; undefined for users other
 * than agents.
 */
export function agentSerialPrefix(
  objects: Objects,
  user: Pick<UserInfo, 'name' | 'groups'>,
): string | undefined {
  const behind = clustersBehind(user)
  if (behind.length === 0) return undefined
  const bytes = Buffer.alloc(8)
  for (const { cluster, part } of behind) {
    bytes.writeUInt32BE(revocationOf(objects, cluster)?.generation ?? 0, part === 'own' ? 0 : 4)
  }
  return serialMark + bytes.toString('hex')
}

/** Returns undefined if a version without generations issued the certificate. */
function generationsIn(serialNumber: string): Generations | undefined {
  if (!serialNumber.startsWith(serialMark) || serialNumber.length !== 40) return undefined
  const bytes = Buffer.from(serialNumber.slice(serialMark.length), 'hex')
  return { own: bytes.readUInt32BE(0), parent: bytes.readUInt32BE(4) }
}

export interface IssuedCertificate extends RevocationOptions, ClusterBehind {
  readonly notBeforeMs: number
  /** The serial number in lower-case hexadecimal. */
  readonly serialNumber: string
}

/**
 * Reports whether a certificate of this cluster's agent was issued before its last revocation. It ignores
 * clocks, unless a version without generations revoked the agent.
 */
export function isRevoked(
  objects: Objects,
  { cluster, part, notBeforeMs, serialNumber, backdateMs }: IssuedCertificate,
): boolean {
  const revocation = revocationOf(objects, cluster)
  if (revocation === undefined) return false
  if (!revocation.isCounted) return notBeforeMs + backdateMs <= revocation.beforeMs
  const generations = generationsIn(serialNumber)
  return generations === undefined || generations[part] < revocation.generation
}

/** Reports whether the last revocation was by a version that used the clock alone. */
export function wasRevokedByTime(objects: Objects, cluster: string): boolean {
  return revocationOf(objects, cluster)?.isCounted === false
}

interface Revocation {
  readonly beforeMs: number
  readonly generation: number
  /** False: a version that did not count was the last that revoked. */
  readonly isCounted: boolean
}

function revocationOf(objects: Objects, cluster: string): Revocation | undefined {
  const { namespace, name } = revocationsKey
  const found = objects.get({ group: '', resource: 'configmaps' }, namespace, name)
  const data = found?.['data']
  return typeof data === 'object' && data !== null ? revocationIn(data, cluster) : undefined
}

function revocationIn(data: object, cluster: string): Revocation | undefined {
  const entries = new Map<string, unknown>(Object.entries(data))
  const [time, counted] = [entries.get(cluster), entries.get(`${generationPrefix}${cluster}`)]
  if (typeof time !== 'string') return undefined
  const [, digits = '0', countedTime] = /^(\d{1,9}) (.+)$/.exec(String(counted)) ?? []
  const generation = Number(digits)
  return { beforeMs: Date.parse(time), generation, isCounted: countedTime === time }
}

/**
 * Returns the cluster that was revoked after its agent, or its virtual cluster, had made this request;
 * undefined if none was. A certificate for the request would begin after the revocation, and so be valid.
 * Times of objects and certificates have whole seconds: a request in the second of the revocation counts as
 * earlier, for both. A request that a fast clock dated in the future may have been made at any time.
 */
export function revokedSince(
  { metadata, spec }: CertificateSigningRequest,
  revocations: ReadonlyMap<string, string>,
  nowMs: number,
): string | undefined {
  const askedMs = Date.parse(metadata.creationTimestamp ?? '')
  const asker = { name: spec?.username ?? '', groups: spec?.groups ?? [] }
  const behind = clustersBehind(asker).find(({ cluster }) => {
    const revoked = revocations.get(cluster)
    return revoked !== undefined && !(askedMs > Date.parse(revoked) && askedMs <= nowMs)
  })
  return behind?.cluster
}

const { attemptsMax } = membershipBounds.agentRevocation

/** Voids every certificate that this cluster's agent has now. The hub then cuts its tunnel. */
export async function revokeAgent(
  hub: ClusterClient,
  revoked: { cluster: string; nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const configMaps = hub.resource(resources.configMaps)
  for (let attempt = 1; ; attempt += 1) {
    const found = await ifThere(configMaps.get(revocationsKey, signal))
    try {
      if (found) await configMaps.patch(countedOn(found, revoked), signal)
      else await configMaps.create(firstOf(revoked), signal)
      return
    } catch (error) {
      const isRace = isStatusError(error, 'Conflict') || isStatusError(error, 'AlreadyExists')
      if (!isRace || attempt >= attemptsMax) throw error
    }
  }
}

/** Fails if another revocation happened meanwhile, because two of the same number would count as one. */
function countedOn(
  { metadata, data = {} }: ConfigMap,
  { cluster, nowMs }: { cluster: string; nowMs: number },
) {
  const generation = (revocationIn(data, cluster)?.generation ?? 0) + 1
  const entries = entriesOf({ cluster, nowMs, generation })
  const { resourceVersion } = metadata
  const patch = { metadata: { resourceVersion }, data: entries }
  return { ...revocationsKey, type: 'merge' as const, patch }
}

function firstOf({ cluster, nowMs }: { cluster: string; nowMs: number }): ConfigMap {
  const data = entriesOf({ cluster, nowMs, generation: 1 })
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...revocationsKey }, data }
}

function entriesOf({
  cluster,
  nowMs,
  generation,
}: {
  cluster: string
  nowMs: number
  generation: number
}): Record<string, string> {
  const time = new Date(nowMs).toISOString()
  return { [cluster]: time, [`${generationPrefix}${cluster}`]: `${generation} ${time}` }
}
