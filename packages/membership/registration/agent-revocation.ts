import {
  StatusError,
  isStatusError,
  type CertificateSigningRequest,
  type ConfigMap,
} from '@skerry/api'
import type { Authenticator, Objects, UserInfo } from '@skerry/apiserver'
import { ifThere, resources, type Cluster as Api } from '@skerry/client'
import { readClientCertificate } from '@skerry/pki'
import { clusterOfAgent, virtualAgentOf, clusterNamespace } from '@skerry/fleet-kinds'

/**
 * Two entries per cluster: when its agent was revoked, and how often. Certificates that were issued before the last
 * time are void.
 */
export const revocationsKey = Object.freeze({ namespace: clusterNamespace, name: 'revoked-agents' })

/** No cluster has a name with a low line. Its value is the number and the time that the other entry has. */
const generationPrefix = 'generation_of_'

/** How often the agent was revoked when a certificate was issued: its own, and for a virtual cluster its parent's. */
interface Generations {
  readonly own: number
  readonly parent: number
}

/** How serial numbers begin that hold generations; by chance one in 2^40 does. */
const serialMark = Buffer.from('SKGEN').toString('hex')

export interface RevocationOptions {
  /** By how much certificates begin before they are issued, for clocks that are behind. */
  readonly backdateMs: number
}

/**
 * Refuses agents whose certificate was revoked. By generation and not by serial: a stolen machine's
 * certificates are void, whichever they are and whatever the clock said then, and a new token makes a new start.
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
  /** Where the serial number has this cluster's generation. */
  readonly part: keyof Generations
}

/** With whose revocation this user's certificate is void: a virtual cluster goes with its parent, too. */
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

/** How the serial number of a certificate begins that this user gets now; undefined for others than agents. */
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

/** Undefined: issued by a version that did not count. */
function generationsIn(serialNumber: string): Generations | undefined {
  if (!serialNumber.startsWith(serialMark) || serialNumber.length !== 40) return undefined
  const bytes = Buffer.from(serialNumber.slice(serialMark.length), 'hex')
  return { own: bytes.readUInt32BE(0), parent: bytes.readUInt32BE(4) }
}

export interface IssuedCertificate extends RevocationOptions, ClusterBehind {
  readonly notBeforeMs: number
  /** Lower-case hexadecimal. */
  readonly serialNumber: string
}

/**
 * Whether a certificate of this cluster's agent was issued before its last revocation. Clocks have no part in it,
 * unless a version revoked that did not count.
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

/** Whether the last revocation was by a version that went by the clock alone. */
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
 * The cluster that was revoked after its agent, or virtual cluster, had made this request; undefined where
 * none was. A certificate for it would begin after the revocation, and so be good. Times of objects and
 * certificates have whole seconds: what is of the revocation's own second came before it, here as there. What was
 * asked in the future, by a clock that was ahead, may have been asked at any time.
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

const attemptsMax = 10

/** Voids every certificate that this cluster's agent has now. The hub then cuts its tunnel. */
export async function revokeAgent(
  hub: Api,
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

/** Fails where somebody else revoked meanwhile: two that count to the same number would be one. */
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
