import type { UserInfo } from './access.ts'
import type { RequestInfo } from './request-info.ts'

/** What an audit log wants to know of one answered request. */
export interface AuditRecord {
  readonly auditId: string
  readonly info: RequestInfo
  /** The target as sent. */
  readonly uri: string
  readonly user: UserInfo | undefined
  /** Who acts as `user`, where somebody does. */
  readonly impersonator: UserInfo | undefined
  readonly sourceAddress: string
  readonly userAgent: string
  readonly status: number
  /** Wall clock, milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  readonly durationMs: number
  /** Where it was no request, what was wrong with it; it has neither method nor target then. */
  readonly unreadable?: string
}

/** Called once per request when its answer starts. Must not throw. */
export type AuditSink = (record: AuditRecord) => void
