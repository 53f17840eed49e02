import type { Clock } from '@skerry/base'
import type { AuthStore } from '../auth/auth-store.ts'
import type { EtcdEngine } from '../engine/etcd-engine.ts'
import type { Caller } from '../grpc/grpc-call.ts'
import type { SnapshotMaker } from '../snapshots/snapshot-maker.ts'
import type { EtcdServerLimits } from '../limits-table.ts'
import type { MessageDraft } from '../wire/etcd-messages-table.ts'
import { CallerRights } from './caller-rights.ts'

/** The member as clients see it. */
export interface MemberInfo {
  readonly name: string
  /** The version of etcd whose API this is; clients decide by it what they may ask. */
  readonly version: string
  readonly clientUrls: readonly string[]
  readonly quotaBytes: number
}

export interface ServiceContext {
  readonly engine: EtcdEngine
  readonly auth: AuthStore
  readonly clock: Clock
  readonly limits: EtcdServerLimits
  readonly member: MemberInfo
  /** The interval at which a quiet watch that asks for it reports progress. */
  readonly progressNotifyMs: number
  /** Makes a snapshot of the store. */
  readonly snapshots: SnapshotMaker
}

/** Throws GrpcError if the caller's token is unknown. */
export function rightsOf(
  { auth, engine }: Pick<ServiceContext, 'auth' | 'engine'>,
  { caller }: { readonly caller: Caller },
): CallerRights {
  return new CallerRights(auth, engine, caller)
}

/** There are no elections, so there is one term. */
export const raftTerm = 1

export function headerOf(
  { clusterId, memberId, revision }: EtcdEngine,
  at: number = revision,
): MessageDraft<'ResponseHeader'> {
  return { clusterId, memberId, revision: at, raftTerm }
}
