/**
 * The messages of etcd's public API (etcdserverpb/rpc.proto, mvccpb/kv.proto, etcd 3.4 to 3.7). A field has a type and
 * its number on the wire. `int` is an int64 that is exact up to 2^53, `int64` and `uint64` are exact. Fields that are
 * not listed are skipped.
 */
export const etcdMessages = Object.freeze({
  ResponseHeader: {
    clusterId: 'uint64 1',
    memberId: 'uint64 2',
    revision: 'int 3',
    raftTerm: 'int 4',
  },
  KeyValue: {
    key: 'bytes 1',
    createRevision: 'int 2',
    modRevision: 'int 3',
    version: 'int 4',
    value: 'bytes 5',
    lease: 'int64 6',
  },
  // Here type 0 is PUT, and 1 is DELETE.
  Event: { type: 'int 1', kv: 'KeyValue 2', prevKv: 'KeyValue 3' },
  RangeRequest: {
    key: 'bytes 1',
    rangeEnd: 'bytes 2',
    limit: 'int 3',
    revision: 'int 4',
    sortOrder: 'int 5',
    sortTarget: 'int 6',
    serializable: 'bool 7',
    keysOnly: 'bool 8',
    countOnly: 'bool 9',
    minModRevision: 'int 10',
    maxModRevision: 'int 11',
    minCreateRevision: 'int 12',
    maxCreateRevision: 'int 13',
  },
  RangeResponse: {
    header: 'ResponseHeader 1',
    kvs: 'repeated KeyValue 2',
    more: 'bool 3',
    count: 'int 4',
  },
  RangeStreamResponse: { rangeResponse: 'RangeResponse 1' },
  PutRequest: {
    key: 'bytes 1',
    value: 'bytes 2',
    lease: 'int64 3',
    prevKv: 'bool 4',
    ignoreValue: 'bool 5',
    ignoreLease: 'bool 6',
  },
  PutResponse: { header: 'ResponseHeader 1', prevKv: 'KeyValue 2' },
  DeleteRangeRequest: { key: 'bytes 1', rangeEnd: 'bytes 2', prevKv: 'bool 3' },
  DeleteRangeResponse: {
    header: 'ResponseHeader 1',
    deleted: 'int 2',
    prevKvs: 'repeated KeyValue 3',
  },
  RequestOp: {
    requestRange: 'RangeRequest 1',
    requestPut: 'PutRequest 2',
    requestDeleteRange: 'DeleteRangeRequest 3',
    requestTxn: 'TxnRequest 4',
  },
  ResponseOp: {
    responseRange: 'RangeResponse 1',
    responsePut: 'PutResponse 2',
    responseDeleteRange: 'DeleteRangeResponse 3',
    responseTxn: 'TxnResponse 4',
  },
  Compare: {
    result: 'int 1',
    target: 'int 2',
    key: 'bytes 3',
    version: 'int 4',
    createRevision: 'int 5',
    modRevision: 'int 6',
    value: 'bytes 7',
    lease: 'int64 8',
    rangeEnd: 'bytes 64',
  },
  TxnRequest: {
    compare: 'repeated Compare 1',
    success: 'repeated RequestOp 2',
    failure: 'repeated RequestOp 3',
  },
  TxnResponse: {
    header: 'ResponseHeader 1',
    succeeded: 'bool 2',
    responses: 'repeated ResponseOp 3',
  },
  CompactionRequest: { revision: 'int 1', physical: 'bool 2' },
  CompactionResponse: { header: 'ResponseHeader 1' },
  WatchRequest: {
    createRequest: 'WatchCreateRequest 1',
    cancelRequest: 'WatchCancelRequest 2',
    progressRequest: 'WatchProgressRequest 3',
  },
  WatchCreateRequest: {
    key: 'bytes 1',
    rangeEnd: 'bytes 2',
    startRevision: 'int 3',
    progressNotify: 'bool 4',
    filters: 'repeated int 5',
    prevKv: 'bool 6',
    watchId: 'int64 7',
    fragment: 'bool 8',
  },
  WatchCancelRequest: { watchId: 'int64 1' },
  WatchProgressRequest: {},
  WatchResponse: {
    header: 'ResponseHeader 1',
    watchId: 'int64 2',
    created: 'bool 3',
    canceled: 'bool 4',
    compactRevision: 'int 5',
    cancelReason: 'string 6',
    fragment: 'bool 7',
    events: 'repeated Event 11',
  },
  LeaseGrantRequest: { ttl: 'int 1', id: 'int64 2' },
  LeaseGrantResponse: {
    header: 'ResponseHeader 1',
    id: 'int64 2',
    ttl: 'int 3',
    error: 'string 4',
  },
  LeaseRevokeRequest: { id: 'int64 1' },
  LeaseRevokeResponse: { header: 'ResponseHeader 1' },
  LeaseKeepAliveRequest: { id: 'int64 1' },
  LeaseKeepAliveResponse: { header: 'ResponseHeader 1', id: 'int64 2', ttl: 'int 3' },
  LeaseTimeToLiveRequest: { id: 'int64 1', keys: 'bool 2' },
  LeaseTimeToLiveResponse: {
    header: 'ResponseHeader 1',
    id: 'int64 2',
    ttl: 'int 3',
    grantedTtl: 'int 4',
    keys: 'repeated bytes 5',
  },
  LeaseLeasesRequest: {},
  LeaseStatus: { id: 'int64 1' },
  LeaseLeasesResponse: { header: 'ResponseHeader 1', leases: 'repeated LeaseStatus 2' },
  AlarmRequest: { action: 'int 1', memberId: 'uint64 2', alarm: 'int 3' },
  AlarmMember: { memberId: 'uint64 1', alarm: 'int 2' },
  AlarmResponse: { header: 'ResponseHeader 1', alarms: 'repeated AlarmMember 2' },
  StatusRequest: {},
  StatusResponse: {
    header: 'ResponseHeader 1',
    version: 'string 2',
    dbSize: 'int 3',
    leader: 'uint64 4',
    raftIndex: 'int 5',
    raftTerm: 'int 6',
    raftAppliedIndex: 'int 7',
    errors: 'repeated string 8',
    dbSizeInUse: 'int 9',
    isLearner: 'bool 10',
    storageVersion: 'string 11',
    dbSizeQuota: 'int 12',
  },
  DefragmentRequest: {},
  DefragmentResponse: { header: 'ResponseHeader 1' },
  HashRequest: {},
  HashResponse: { header: 'ResponseHeader 1', hash: 'int 2' },
  HashKVRequest: { revision: 'int 1' },
  HashKVResponse: {
    header: 'ResponseHeader 1',
    hash: 'int 2',
    compactRevision: 'int 3',
    hashRevision: 'int 4',
  },
  SnapshotResponse: {
    header: 'ResponseHeader 1',
    remainingBytes: 'int 2',
    blob: 'bytes 3',
    version: 'string 4',
  },
  Member: {
    id: 'uint64 1',
    name: 'string 2',
    peerUrls: 'repeated string 3',
    clientUrls: 'repeated string 4',
    isLearner: 'bool 5',
  },
  MemberListRequest: { linearizable: 'bool 1' },
  MemberListResponse: { header: 'ResponseHeader 1', members: 'repeated Member 2' },
  AuthStatusResponse: { header: 'ResponseHeader 1', enabled: 'bool 2', authRevision: 'int 3' },
  AuthResponse: { header: 'ResponseHeader 1' },
  AuthenticateRequest: { name: 'string 1', password: 'string 2' },
  AuthenticateResponse: { header: 'ResponseHeader 1', token: 'string 2' },
  UserAddOptions: { noPassword: 'bool 1' },
  AuthUserAddRequest: {
    name: 'string 1',
    password: 'string 2',
    options: 'UserAddOptions 3',
    hashedPassword: 'string 4',
  },
  /** Requests that name a user or a role alone. */
  AuthNameRequest: { name: 'string 1' },
  AuthUserChangePasswordRequest: {
    name: 'string 1',
    password: 'string 2',
    hashedPassword: 'string 3',
  },
  AuthUserGrantRoleRequest: { user: 'string 1', role: 'string 2' },
  AuthUserRevokeRoleRequest: { name: 'string 1', role: 'string 2' },
  AuthUserGetResponse: { header: 'ResponseHeader 1', roles: 'repeated string 2' },
  AuthUserListResponse: { header: 'ResponseHeader 1', users: 'repeated string 2' },
  /** Requests whose only field is a role. */
  AuthRoleRequest: { role: 'string 1' },
  Permission: { permType: 'int 1', key: 'bytes 2', rangeEnd: 'bytes 3' },
  AuthRoleGetResponse: { header: 'ResponseHeader 1', perm: 'repeated Permission 2' },
  AuthRoleListResponse: { header: 'ResponseHeader 1', roles: 'repeated string 2' },
  AuthRoleGrantPermissionRequest: { name: 'string 1', perm: 'Permission 2' },
  AuthRoleRevokePermissionRequest: { role: 'string 1', key: 'bytes 2', rangeEnd: 'bytes 3' },
  HealthCheckResponse: { status: 'int 1' },
  Empty: {},
} as const)

export type EtcdMessages = typeof etcdMessages
export type MessageName = keyof EtcdMessages

interface Scalars {
  bytes: Uint8Array
  int: number
  int64: bigint
  uint64: bigint
  bool: boolean
  string: string
}

type Element<T> = T extends keyof Scalars ? Scalars[T] : T extends MessageName ? Message<T> : never
type Optional<T> = T extends keyof Scalars
  ? Scalars[T]
  : T extends MessageName
    ? Message<T> | undefined
    : never
type FieldValue<F> = F extends `repeated ${infer T} ${number}`
  ? readonly Element<T>[]
  : F extends `${infer T} ${number}`
    ? Optional<T>
    : never

/** A message as it is read: all of its fields are set. */
export type Message<Name extends MessageName> = {
  readonly [F in keyof EtcdMessages[Name]]: FieldValue<EtcdMessages[Name][F]>
}

type DraftElement<T> = T extends keyof Scalars
  ? Scalars[T]
  : T extends MessageName
    ? MessageDraft<T>
    : never
type DraftValue<F> = F extends `repeated ${infer T} ${number}`
  ? readonly DraftElement<T>[]
  : F extends `${infer T} ${number}`
    ? DraftElement<T>
    : never

/** A message to write: omitted fields have their zero values. */
export type MessageDraft<Name extends MessageName> = {
  readonly [F in keyof EtcdMessages[Name]]?: DraftValue<EtcdMessages[Name][F]> | undefined
}
