import { isJsonObject, parseBootstrapToken, StatusError } from '@skerry/api'
import type { NodeRecord, ParentRecord, UnitRecord, UnitServing } from '@skerry/edge-apps'
import { parseMasterToken } from '../etcd/join-keys.ts'
import { siteBounds } from '../limits-table.ts'

/** The path below which a site answers the nodes of its units. */
export const unitsPath = '/units/v1/'

/** The settings with which the unit's own control plane starts: running pods have them in their files. */
export interface UnitSettings {
  readonly clusterCidr: string
  readonly serviceCidr: string
  readonly clusterDomain: string
  readonly nodeCidrMaskSize: number
}

/** The way by which the other nodes of a unit join its control plane. */
export interface UnitJoin {
  readonly server: string
  readonly token: string
  readonly caHash: string
}

/** A node's own record, and that of its unit, which counts if the node runs the unit's control plane. */
export interface UnitStatement {
  readonly record: UnitRecord
  readonly node: NodeRecord
  readonly join?: UnitJoin | undefined
  /** Where the unit's control plane serves while it is open. */
  readonly serves?: UnitServing | undefined
  /** The members of the etcd that the unit's control plane has on this node, as they were seen last; none if it has no etcd. */
  readonly members?: readonly string[] | undefined
  /** The way by which further servers of the unit join, from the one that speaks for it. */
  readonly masterJoin?: UnitJoin | undefined
  /** The reason why this node cannot do its next step. */
  readonly trouble?: string | undefined
}

/** The parent's answer to the statement of a node. */
export interface UnitOrder {
  /** Omitted if the node was never in a unit that was handed over. */
  readonly unit?: string | undefined
  readonly parent: ParentRecord
  readonly settings: UnitSettings
  /** True for the node that speaks for the unit, and runs its control plane, alone or first. */
  readonly isServer?: true
  /** The nodes that shall run the unit's control plane, for the one that speaks for it. */
  readonly masters?: readonly string[]
  /** Whether some of them wait for a way to join. */
  readonly needsMasterJoin?: boolean
  /** For another node: it shall run the unit's control plane, too, or goes on only until the others are without it. */
  readonly master?: 'runs' | 'ends' | undefined
  readonly masterJoin?: UnitJoin | undefined
  /** The digest of a sealed content that the server shall bring. */
  readonly wants?: string | undefined
  /** Whether other nodes wait for the server to name a way to join. */
  readonly needsJoin?: boolean
  /** The last record of the unit that the parent has heard, and the way to join, for nodes other than the server. */
  readonly heard?: UnitRecord | undefined
  readonly join?: UnitJoin | undefined
}

const { membersMax, troubleMax } = siteBounds.units.statement

const phases: ReadonlySet<unknown> = new Set(['empty', 'filled', 'open', 'sealed'])

/** Throws StatusError BadRequest for other bytes. */
export function readStatement(body: Buffer): UnitStatement {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch (cause) {
    throw new StatusError('BadRequest', 'Cannot read the statement: it is not JSON', { cause })
  }
  const { record, node, ...more } = isJsonObject(value) ? value : {}
  if (isRecord(record) && isNode(node) && isMore(more)) return { record, node, ...more }
  throw new StatusError('BadRequest', 'Cannot read the statement: it has no such records')
}

type More = Omit<UnitStatement, 'record' | 'node'>

const mores: Readonly<Record<keyof More, (value: unknown) => boolean>> = {
  join: (value) => isJoin(value) && parseBootstrapToken(value.token) !== undefined,
  serves: isServing,
  members: (value) =>
    Array.isArray(value) && value.length <= membersMax && value.every(isMemberName),
  masterJoin: (value) => isJoin(value) && parseMasterToken(value.token) !== undefined,
  trouble: (value) => typeof value === 'string' && value.length <= troubleMax,
}

/** Fields of later versions are left out. */
function isMore(value: Record<string, unknown>): value is Record<string, unknown> & More {
  for (const name of Object.keys(value)) if (!(name in mores)) delete value[name]
  return Object.entries(mores).every(
    ([name, isGood]) => value[name] === undefined || isGood(value[name]),
  )
}

function isMemberName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z0-9][a-z0-9.-]{0,62}$/.test(value)
}

function isRecord(value: unknown): value is UnitRecord {
  if (!isJsonObject(value)) return false
  const { generation, phase, content } = value
  const isDigest = typeof content === 'string' && /^[0-9a-f]{64}$/.test(content)
  return isGeneration(generation) && phases.has(phase) && (content === undefined || isDigest)
}

function isNode(value: unknown): value is NodeRecord {
  if (!isJsonObject(value)) return false
  const { generation, follows } = value
  return isGeneration(generation) && (follows === 'parent' || follows === 'unit')
}

function isGeneration(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isJoin(value: unknown): value is UnitJoin {
  if (!isJsonObject(value)) return false
  const { server, token, caHash } = value
  return (
    isServer(server) &&
    typeof token === 'string' &&
    typeof caHash === 'string' &&
    /^sha256:[0-9a-f]{64}$/.test(caHash)
  )
}

function isServing(value: unknown): value is UnitServing {
  if (!isJsonObject(value)) return false
  const { version, server } = value
  return typeof version === 'string' && /^v\d[\w.+-]{0,62}$/.test(version) && isServer(server)
}

function isServer(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && value.startsWith('https://')
}
