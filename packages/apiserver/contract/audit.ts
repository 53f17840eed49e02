import type { UserInfo } from './access.ts'
import type { RequestInfo } from './request-info.ts'

/** The data of one answered request for an audit log. */
export interface AuditRecord {
  readonly auditId: string
  readonly info: RequestInfo
  /** The request target as sent. */
  readonly uri: string
  readonly user: UserInfo | undefined
  /** The user who impersonates `user`, if any. */
  readonly impersonator: UserInfo | undefined
  readonly sourceAddress: string
  readonly userAgent: string
  readonly status: number
  /** Wall clock time, in milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  readonly durationMs: number
  /** The error of something that was not a valid request and has neither method nor target. */
  readonly unreadable?: string
}

/** Called once per request, when its answer starts. Must not throw. */
export type AuditSink = (record: AuditRecord) => void
