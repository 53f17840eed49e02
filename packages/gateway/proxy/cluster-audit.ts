import { checkDnsLabel } from '@skerry/api'
import type { AuditRecord, AuditSink, RequestInfo, UserInfo } from '@skerry/apiserver'
import { clusterOfReporter, sessionIdKey, tokenIdKey } from '@skerry/fleet-kinds'
import { aggregatedPrefix, clustersPrefix } from './cluster-path.ts'

/** The byte counts of one request that passes through the hub, and how it ended. */
export interface Transfer {
  bytesIn: number
  bytesOut: number
  /** Records the end; only the first call counts. `cause` is set if the request did not end by itself. */
  end(cause?: string): void
}

export interface ClusterAudit {
  /** The sink for the API server, called when an answer starts or an upgrade has ended. */
  readonly sink: AuditSink
  /** Begins a transfer of the proxy. The line is written once both have reported. */
  begin(info: RequestInfo, cluster: string): Transfer
}

interface Passage extends Transfer {
  readonly cluster: string
  record: AuditRecord | undefined
  endedMs: number | undefined
  cause: string | undefined
}

export interface ClusterAuditDeps {
  readonly write: (line: string) => void
  readonly monotonicMs: () => number
}

/** A JSON line for each request to a cluster, each refusal, and each change on the hub by a person. */
export function createClusterAudit({ write, monotonicMs }: ClusterAuditDeps): ClusterAudit {
  const passages = new WeakMap<RequestInfo, Passage>()
  const finish = (passage: Passage): void => {
    const { record, endedMs } = passage
    if (record !== undefined && endedMs !== undefined) {
      write(lineOf(record, passage))
    }
  }
  return {
    sink(record) {
      const passage = passages.get(record.info)
      if (passage) {
        passage.record = record
        finish(passage)
      } else if (isWorthALine(record)) write(lineOf(record, undefined))
    },
    begin(info, cluster) {
      const startMs = monotonicMs()
      const passage: Passage = {
        cluster,
        bytesIn: 0,
        bytesOut: 0,
        record: undefined,
        endedMs: undefined,
        cause: undefined,
        end(cause) {
          if (passage.endedMs !== undefined) return
          passage.endedMs = monotonicMs() - startMs
          passage.cause = cause
          finish(passage)
        },
      }
      passages.set(info, passage)
      return passage
    },
  }
}

/** Holds a certificate's fingerprint or a token's id, as Kubernetes defines it (KEP-4193). */
const credentialIdKey = 'authentication.kubernetes.io/credential-id'

/** The statuses of refusals: unauthenticated, forbidden, ambiguous, too large, compressed, or not acceptable. */
const refusals: ReadonlySet<number> = new Set([400, 401, 403, 413, 415, 421, 422, 431])

/**
 * Leaves out agents, which report every few seconds, and controllers, which are the hub itself: neither acts
 * for a person.
 */
function isWorthALine({ info, status, user, sourceAddress }: AuditRecord): boolean {
  if (refusals.has(status)) return true
  if (info.path.startsWith('/clusters/') || info.subresource === 'proxy') return true
  const isWrite = info.method !== 'GET' && info.method !== 'HEAD'
  return isWrite && sourceAddress !== '' && (!user || clusterOfReporter(user) === undefined)
}

const clusterPath = new RegExp(
  `^(?:${clustersPrefix}([^/]+)|${aggregatedPrefix}([^/]+)/proxy)(?:/|$)`,
)

/**
 * Returns the cluster that the path names, even if the hub refused the request. Undefined if it is not a
 * possible cluster name.
 */
function clusterAskedFor({ path }: RequestInfo): string | undefined {
  const [, byPath, byKarmadas = ''] = clusterPath.exec(path) ?? []
  const name = byPath ?? byKarmadas
  return checkDnsLabel(name).length === 0 ? name : undefined
}

/** Returns the id of the session, token or certificate that was used, by which an administrator finds and revokes it. */
function credentialOf(user: UserInfo | undefined): { credential?: string } {
  const {
    [sessionIdKey]: session,
    [tokenIdKey]: token,
    [credentialIdKey]: other,
  } = user?.extra ?? {}
  const [credential] = session ?? token ?? other ?? []
  return credential === undefined ? {} : { credential }
}

function lineOf(record: AuditRecord, passage: Passage | undefined): string {
  const { info, user, impersonator } = record
  const cluster = passage?.cluster ?? clusterAskedFor(info)
  const { unreadable } = record
  const cause = unreadable === undefined ? passage?.cause : `the bytes are not HTTP: ${unreadable}`
  const line = {
    time: new Date(record.startedAtMs).toISOString(),
    auditID: record.auditId,
    user: user?.name,
    groups: user?.groups,
    ...(impersonator ? { impersonator: impersonator.name } : {}),
    ...credentialOf(impersonator ?? user),
    source: record.sourceAddress,
    userAgent: record.userAgent,
    ...(cluster === undefined ? {} : { cluster }),
    method: info.method,
    uri: record.uri,
    status: record.status,
    ...(passage ? { bytesIn: passage.bytesIn, bytesOut: passage.bytesOut } : {}),
    ms: Math.round(passage?.endedMs ?? record.durationMs),
    ...(cause === undefined ? {} : { cut: cause }),
  }
  return `${JSON.stringify(line)}\n`
}
