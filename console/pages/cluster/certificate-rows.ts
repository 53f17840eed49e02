/** The programs of a cluster with their versions, and the ends of their certificates. Pure. */
import { timeLimits } from '../../limits-table.ts'
import type { AgentFacts } from './tunnel-state.ts'

/** The certificates of nodes are `client`, by which they ask the API server, and `serving`, for logs and shells. */
type CertificateUse = 'api' | 'agent' | 'client' | 'serving'

export interface CertificateRow {
  readonly key: string
  readonly use: CertificateUse
  /** The host of an agent, or the name of a node. Empty for the API server. */
  readonly name: string
  /** Empty if unknown. */
  readonly version: string
  /** The end by the hub's clock; undefined if unknown. */
  readonly endMs: number | undefined
  /** Its owner asks for another one long before the end. */
  readonly renewsItself: boolean
}

/** A node, as far as it is read here. */
export interface NodeObject {
  readonly metadata: {
    readonly name: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly status?: { readonly nodeInfo?: { readonly kubeletVersion?: string } }
}

interface CertificateFacts {
  /** Undefined before the cluster's first report. */
  readonly apiVersion: string | undefined
  readonly annotations: Readonly<Record<string, string>>
  /** It has no API server of its own, and its agent is that of the cluster around it, with another certificate. */
  readonly isVirtual: boolean
  readonly agents: readonly AgentFacts[]
  readonly nodes: readonly NodeObject[]
}

const apiKey = 'hub.skerry.io/api-certificate-expires'
const virtualKey = 'hub.skerry.io/certificate-expires'
const nodeKeys = {
  client: 'skerry.io/client-certificate-expires',
  serving: 'skerry.io/serving-certificate-expires',
} as const

/** Lists the API server, then the agents, then both certificates of each node. */
export function certificateRows(facts: CertificateFacts): CertificateRow[] {
  const own = facts.isVirtual ? virtualRow(facts) : apiRow(facts)
  return [own, ...agentRows(facts), ...nodeRows(facts)]
}

function virtualRow({ annotations }: CertificateFacts): CertificateRow {
  const endMs = momentOf(annotations[virtualKey])
  return { key: 'virtual', use: 'agent', name: '', version: '', endMs, renewsItself: true }
}

function apiRow({ apiVersion = '', annotations }: CertificateFacts): CertificateRow {
  return {
    key: 'api',
    use: 'api',
    name: '',
    version: apiVersion,
    endMs: momentOf(annotations[apiKey]),
    // Other servers may be renewed by somebody; they do not say so.
    renewsItself: isOurs(apiVersion),
  }
}

function agentRows({ agents }: CertificateFacts): CertificateRow[] {
  return agents.map(({ host, address, version, certificateExpires }, at) => ({
    key: `agent ${at}`,
    use: 'agent',
    name: host ?? address,
    version: version ?? '',
    endMs: momentOf(certificateExpires),
    renewsItself: true,
  }))
}

function nodeRows({ nodes }: CertificateFacts): CertificateRow[] {
  return nodes.flatMap(({ metadata: { name, annotations = {} }, status }) => {
    const version = status?.nodeInfo?.kubeletVersion ?? ''
    return (['client', 'serving'] as const).map((use) => {
      const endMs = momentOf(annotations[nodeKeys[use]])
      // Only nodes of Skerry report it, and they renew it.
      return { key: `${use} ${name}`, use, name, version, endMs, renewsItself: endMs !== undefined }
    })
  })
}

function isOurs(version: string): boolean {
  return version.includes('+skerry')
}

function momentOf(time: string | null | undefined): number | undefined {
  const ms = Date.parse(time ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

/** `late`: it should have been renewed by now. `soon`: somebody has to renew it. */
export type CertificateState = 'ended' | 'late' | 'soon' | 'unknown' | 'renews' | 'good'

/** The states, those that need a person first. */
export const certificateStates: readonly CertificateState[] = [
  'ended',
  'late',
  'soon',
  'unknown',
  'good',
  'renews',
]

export function certificateState(
  { endMs, renewsItself }: Pick<CertificateRow, 'endMs' | 'renewsItself'>,
  nowMs: number,
): CertificateState {
  if (endMs === undefined) return 'unknown'
  const leftMs = endMs - nowMs
  if (leftMs <= 0) return 'ended'
  if (renewsItself) return leftMs < timeLimits.certificateSoonMs ? 'late' : 'renews'
  return leftMs < timeLimits.certificateDueMs ? 'soon' : 'good'
}
