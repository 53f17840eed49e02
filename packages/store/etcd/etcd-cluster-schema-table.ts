import { loadMethods, type EtcdMethod } from './etcd-schema-table.ts'

/** The part of etcd's public API (etcdserverpb/rpc.proto) that is about its members and their files. */
const messages = Object.freeze({
  ResponseHeader: { memberId: 'uint64 2', revision: 'int64 3' },
  Member: {
    id: 'uint64 1',
    name: 'string 2',
    peerUrls: 'repeated string 3',
    clientUrls: 'repeated string 4',
    isLearner: 'bool 5',
  },
  MemberAddRequest: { peerUrls: 'repeated string 1', isLearner: 'bool 2' },
  MemberAddResponse: { member: 'Member 2', members: 'repeated Member 3' },
  MemberRemoveRequest: { id: 'uint64 1' },
  MemberUpdateRequest: { id: 'uint64 1', peerUrls: 'repeated string 2' },
  MemberListRequest: { linearizable: 'bool 1' },
  MemberPromoteRequest: { id: 'uint64 1' },
  MembersResponse: { members: 'repeated Member 2' },
  StatusRequest: {},
  StatusResponse: {
    header: 'ResponseHeader 1',
    version: 'string 2',
    dbSize: 'int64 3',
    leader: 'uint64 4',
    raftIndex: 'uint64 5',
    errors: 'repeated string 8',
    dbSizeInUse: 'int64 9',
    isLearner: 'bool 10',
  },
  // Here action 0 is GET and 2 is DEACTIVATE; alarm 1 is NOSPACE and 2 is CORRUPT.
  AlarmRequest: { action: 'int32 1', memberId: 'uint64 2', alarm: 'int32 3' },
  AlarmMember: { memberId: 'uint64 1', alarm: 'int32 2' },
  AlarmResponse: { alarms: 'repeated AlarmMember 2' },
  DefragmentRequest: {},
  MoveLeaderRequest: { targetId: 'uint64 1' },
  SnapshotRequest: {},
  SnapshotResponse: { remainingBytes: 'uint64 2', blob: 'bytes 3' },
  Nothing: {},
})

const services = Object.freeze({
  Cluster: {
    MemberAdd: ['MemberAddRequest', 'MemberAddResponse'],
    MemberRemove: ['MemberRemoveRequest', 'MembersResponse'],
    MemberUpdate: ['MemberUpdateRequest', 'MembersResponse'],
    MemberList: ['MemberListRequest', 'MembersResponse'],
    MemberPromote: ['MemberPromoteRequest', 'MembersResponse'],
  },
  Maintenance: {
    Alarm: ['AlarmRequest', 'AlarmResponse'],
    Status: ['StatusRequest', 'StatusResponse'],
    Defragment: ['DefragmentRequest', 'Nothing'],
    MoveLeader: ['MoveLeaderRequest', 'Nothing'],
    Snapshot: ['SnapshotRequest', 'stream SnapshotResponse'],
  },
} as const)

export type ClusterMethodName =
  | 'MemberAdd'
  | 'MemberRemove'
  | 'MemberUpdate'
  | 'MemberList'
  | 'MemberPromote'
  | 'Alarm'
  | 'Status'
  | 'Defragment'
  | 'MoveLeader'
  | 'Snapshot'

/** Ids of members are whole 64 bits, which a number of JavaScript cannot have, so they stay text. */
const conversion = Object.freeze({ longs: String, defaults: true, arrays: true, objects: true })

export function loadClusterMethods(): Readonly<Record<ClusterMethodName, EtcdMethod>> {
  return loadMethods({ messages, services }, conversion)
}

export interface WireMember {
  readonly id: string
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly clientUrls: readonly string[]
  readonly isLearner: boolean
}

export interface WireMembers {
  readonly members: readonly WireMember[]
}

export interface WireStatus {
  readonly header: { readonly memberId: string; readonly revision: string }
  readonly version: string
  readonly dbSize: string
  readonly dbSizeInUse: string
  readonly leader: string
  readonly raftIndex: string
  readonly errors: readonly string[]
  readonly isLearner: boolean
}
