import { status, Metadata, type Client, type ServiceError } from '@grpc/grpc-js'
import { abortReason, unaryCall, type Clock } from '@skerry/base'
import { StoreUnavailableError } from '../store-errors.ts'
import { clientFor, EtcdError, type EtcdTls } from './etcd-channel.ts'
import {
  loadClusterMethods,
  type ClusterMethodName,
  type WireMember,
  type WireMembers,
  type WireStatus,
} from './etcd-cluster-schema-table.ts'
import { etcdClusterDefaults } from '../limits-table.ts'
import { receivedParts } from './etcd-snapshot.ts'

export interface EtcdMember {
  /** A decimal number of 64 bits. */
  readonly id: string
  /** Empty until the member has started once. */
  readonly name: string
  readonly peerUrls: readonly string[]
  /** Empty until the member has started once. */
  readonly clientUrls: readonly string[]
  /** A learner receives the log and has no vote. */
  readonly isLearner: boolean
}

export interface EtcdMemberStatus {
  readonly memberId: string
  readonly version: string
  readonly dbSizeBytes: number
  /** The part of it that holds data; the rest can be given back by a defragmentation. */
  readonly dbInUseBytes: number
  /** The member's leader; undefined if it knows none. */
  readonly leaderId: string | undefined
  readonly revision: number
  /** Its alarms and faults, in etcd's words. */
  readonly errors: readonly string[]
  readonly isLearner: boolean
}

/**
 * One member of an etcd, asked about its cluster and its files. Throws EtcdError if it refuses, and
 * StoreUnavailableError if it does not answer: a change of the members may then have been made or not.
 */
export class EtcdMemberClient implements Disposable {
  readonly #client: Client
  readonly #clock: Clock
  readonly #methods = loadClusterMethods()

  constructor(endpoint: string, tls: EtcdTls, clock: Clock) {
    this.#client = clientFor(endpoint, tls)
    this.#clock = clock
  }

  /** Linearizable lists need a quorum; others are what this member knows. */
  async members(signal: AbortSignal, isLinearizable = true): Promise<EtcdMember[]> {
    const answer = await this.#call<WireMembers>(
      'MemberList',
      { linearizable: isLinearizable },
      signal,
    )
    return answer.members.map(memberOf)
  }

  async addLearner(peerUrl: string, signal: AbortSignal): Promise<EtcdMember> {
    const request = { peerUrls: [peerUrl], isLearner: true }
    const { member } = await this.#call<{ member: WireMember }>('MemberAdd', request, signal)
    return memberOf(member)
  }

  async removeMember(id: string, signal: AbortSignal): Promise<void> {
    await this.#call('MemberRemove', { id }, signal)
  }

  async updateMember(id: string, peerUrl: string, signal: AbortSignal): Promise<void> {
    await this.#call('MemberUpdate', { id, peerUrls: [peerUrl] }, signal)
  }

  /** Refused until the learner has caught up with the leader. */
  async promote(id: string, signal: AbortSignal): Promise<void> {
    await this.#call('MemberPromote', { id }, signal)
  }

  async status(signal: AbortSignal): Promise<EtcdMemberStatus> {
    const answer = await this.#call<WireStatus>('Status', {}, signal)
    const { header, version, leader, errors, isLearner } = answer
    return {
      memberId: header.memberId,
      version,
      dbSizeBytes: Number(answer.dbSize),
      dbInUseBytes: Number(answer.dbSizeInUse),
      leaderId: leader === '0' ? undefined : leader,
      revision: Number(header.revision),
      errors,
      isLearner,
    }
  }

  /** Copies the member's file without its holes. The member answers nothing meanwhile. */
  async defragment(signal: AbortSignal): Promise<void> {
    await this.#call('Defragment', {}, signal, etcdClusterDefaults.defragmentMs)
  }

  /** Returns true if a member has reached its quota: etcd then refuses writes until the alarm is ended. */
  async isFull(signal: AbortSignal): Promise<boolean> {
    return (await this.#fullMembers(signal)).length > 0
  }

  /** Ends that alarm of each member that has it: etcd ends none for a request that names no member. */
  async disarmNoSpace(signal: AbortSignal): Promise<void> {
    for (const memberId of await this.#fullMembers(signal)) {
      await this.#call('Alarm', { action: deactivate, memberId, alarm: noSpace }, signal)
    }
  }

  async #fullMembers(signal: AbortSignal): Promise<string[]> {
    const request = { action: 0, memberId: '0', alarm: 0 }
    const answer = await this.#call<WireAlarms>('Alarm', request, signal)
    return answer.alarms.flatMap(({ alarm, memberId }) => (alarm === noSpace ? [memberId] : []))
  }

  /** Only the leader itself does this. */
  async moveLeader(targetId: string, signal: AbortSignal): Promise<void> {
    await this.#call('MoveLeader', { targetId }, signal)
  }

  /** Yields the pieces of this member's file, which end with the SHA-256 of those before. */
  async *snapshot(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    signal.throwIfAborted()
    const { path, requestSerialize, responseDeserialize } = this.#methods.Snapshot
    const stream = this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      {},
    )
    try {
      yield* receivedParts(stream, { clock: this.#clock, signal })
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      // The stream of gRPC fails with its own error type only.
      throw toError('Snapshot', error as ServiceError)
    }
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }

  async #call<Answer>(
    name: ClusterMethodName,
    request: object,
    signal: AbortSignal,
    timeoutMs: number = etcdClusterDefaults.callMs,
  ): Promise<Answer> {
    const call = {
      method: this.#methods[name],
      request,
      metadata: new Metadata(),
      timeoutMs,
      clock: this.#clock,
      toError: (error: ServiceError) => toError(name, error),
    }
    // The schema table decodes this; the caller names the message of its method's answer.
    return (await unaryCall(this.#client, call, signal)) as Answer
  }
}

interface WireAlarms {
  readonly alarms: readonly { readonly alarm: number; readonly memberId: string }[]
}

const deactivate = 2
const noSpace = 1

function memberOf({ id, name, peerUrls, clientUrls, isLearner }: WireMember): EtcdMember {
  return { id, name, peerUrls, clientUrls, isLearner }
}

/** A refusal has a code of its own; the others say nothing but that no verdict came. */
const silentCodes: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
])

function toError(method: string, error: ServiceError): Error {
  if (!silentCodes.has(error.code)) return new EtcdError(method, error)
  const text = `Cannot reach etcd: ${method} failed: ${error.details}`
  return new StoreUnavailableError(text, { cause: error, isSent: true })
}
