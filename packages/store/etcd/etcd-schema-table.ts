import {
  fromJSON,
  type MethodDefinition,
  type Options,
  type PackageDefinition,
} from '@grpc/proto-loader'

/**
 * The used part of etcd's public API (etcdserverpb/rpc.proto, mvccpb/kv.proto; 3.4 and newer). A
 * field has a type and a number on the wire. Fields that are not listed are skipped.
 */
const messages: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.freeze({
  ResponseHeader: { revision: 'int64 3' },
  KeyValue: {
    key: 'bytes 1',
    createRevision: 'int64 2',
    modRevision: 'int64 3',
    value: 'bytes 5',
  },
  RangeRequest: {
    key: 'bytes 1',
    rangeEnd: 'bytes 2',
    limit: 'int64 3',
    revision: 'int64 4',
    keysOnly: 'bool 8',
    countOnly: 'bool 9',
  },
  RangeResponse: {
    header: 'ResponseHeader 1',
    kvs: 'repeated KeyValue 2',
    more: 'bool 3',
    count: 'int64 4',
  },
  PutRequest: { key: 'bytes 1', value: 'bytes 2', lease: 'int64 3', prevKv: 'bool 4' },
  PutResponse: { prevKv: 'KeyValue 2' },
  DeleteRangeRequest: { key: 'bytes 1', rangeEnd: 'bytes 2', prevKv: 'bool 3' },
  DeleteRangeResponse: { deleted: 'int64 2', prevKvs: 'repeated KeyValue 3' },
  // Here result 0 is EQUAL, and target 2 is MOD.
  Compare: { result: 'int32 1', target: 'int32 2', key: 'bytes 3', modRevision: 'int64 6' },
  RequestOp: {
    requestRange: 'RangeRequest 1',
    requestPut: 'PutRequest 2',
    requestDeleteRange: 'DeleteRangeRequest 3',
  },
  ResponseOp: {
    responseRange: 'RangeResponse 1',
    responsePut: 'PutResponse 2',
    responseDeleteRange: 'DeleteRangeResponse 3',
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
  CompactionRequest: { revision: 'int64 1' },
  CompactionResponse: { header: 'ResponseHeader 1' },
  WatchRequest: {
    createRequest: 'WatchCreateRequest 1',
    progressRequest: 'WatchProgressRequest 3',
  },
  WatchCreateRequest: {
    key: 'bytes 1',
    rangeEnd: 'bytes 2',
    startRevision: 'int64 3',
    prevKv: 'bool 6',
    fragment: 'bool 8',
  },
  WatchProgressRequest: {},
  WatchResponse: {
    header: 'ResponseHeader 1',
    created: 'bool 3',
    canceled: 'bool 4',
    compactRevision: 'int64 5',
    fragment: 'bool 7',
    events: 'repeated Event 11',
  },
  // Here type 0 is PUT, and 1 is DELETE.
  Event: { type: 'int32 1', kv: 'KeyValue 2', prevKv: 'KeyValue 3' },
  LeaseGrantRequest: { ttl: 'int64 1', id: 'int64 2' },
  LeaseGrantResponse: { id: 'int64 2', ttl: 'int64 3' },
  LeaseRevokeRequest: { id: 'int64 1' },
  LeaseRevokeResponse: { header: 'ResponseHeader 1' },
  LeaseKeepAliveRequest: { id: 'int64 1' },
  LeaseKeepAliveResponse: { id: 'int64 2', ttl: 'int64 3' },
  StatusRequest: {},
  StatusResponse: { header: 'ResponseHeader 1', version: 'string 2' },
  SnapshotRequest: {},
  SnapshotResponse: { blob: 'bytes 3' },
})

/** The request and the answer of each method; both may stream. */
const services: Readonly<Record<string, Readonly<Record<string, readonly [string, string]>>>> =
  Object.freeze({
    KV: {
      Range: ['RangeRequest', 'RangeResponse'],
      Txn: ['TxnRequest', 'TxnResponse'],
      Compact: ['CompactionRequest', 'CompactionResponse'],
    },
    Watch: { Watch: ['stream WatchRequest', 'stream WatchResponse'] },
    Lease: {
      LeaseGrant: ['LeaseGrantRequest', 'LeaseGrantResponse'],
      LeaseRevoke: ['LeaseRevokeRequest', 'LeaseRevokeResponse'],
      LeaseKeepAlive: ['stream LeaseKeepAliveRequest', 'stream LeaseKeepAliveResponse'],
    },
    Maintenance: {
      Status: ['StatusRequest', 'StatusResponse'],
      Snapshot: ['SnapshotRequest', 'stream SnapshotResponse'],
    },
  })

export type EtcdMethod = MethodDefinition<object, object>

export type EtcdMethodName =
  | 'Range'
  | 'Txn'
  | 'Compact'
  | 'Watch'
  | 'LeaseGrant'
  | 'LeaseRevoke'
  | 'LeaseKeepAlive'
  | 'Status'
  | 'Snapshot'

/** Revisions and lease ids stay far below 2^53; our own ids are chosen so. */
const conversion = Object.freeze({ longs: Number, defaults: true, arrays: true, objects: true })

export function loadEtcdMethods(): Readonly<Record<EtcdMethodName, EtcdMethod>> {
  return loadMethods({ messages, services }, conversion)
}

/** Messages and services by name, in the form of the tables of this folder. */
export interface EtcdSchema {
  readonly messages: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly services: Readonly<Record<string, Readonly<Record<string, readonly [string, string]>>>>
}

export function loadMethods<Name extends string>(
  { messages: fieldsOf, services: methodsOf }: EtcdSchema,
  converted: Options,
): Readonly<Record<Name, EtcdMethod>> {
  const nested: Record<string, object> = {}
  for (const [name, fields] of Object.entries(fieldsOf)) {
    nested[name] = { fields: Object.fromEntries(Object.entries(fields).map(fieldOf)) }
  }
  for (const [name, methods] of Object.entries(methodsOf)) {
    nested[name] = { methods: Object.fromEntries(Object.entries(methods).map(methodOf)) }
  }
  const definition: PackageDefinition = fromJSON(
    { nested: { etcdserverpb: { nested } } },
    converted,
  )
  const all = Object.keys(methodsOf).map((service) => definition[`etcdserverpb.${service}`])
  // A service's entry in a package definition is its table of methods, and the caller names those of its table.
  return Object.assign({}, ...all) as Readonly<Record<Name, EtcdMethod>>
}

function fieldOf([name, text]: [string, string]): [string, object] {
  const [, repeated, type, id] = /^(repeated )?(\w+) (\d+)$/.exec(text) ?? []
  return [name, { type, id: Number(id), ...(repeated ? { rule: 'repeated' } : {}) }]
}

function methodOf([name, [request, answer]]: [string, readonly [string, string]]) {
  const shape = {
    requestType: request.replace('stream ', ''),
    requestStream: request.startsWith('stream '),
    responseType: answer.replace('stream ', ''),
    responseStream: answer.startsWith('stream '),
  }
  return [name, shape]
}

/** A key with its value, as etcd sends it. */
export interface WireKeyValue {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly createRevision: number
  readonly modRevision: number
}

export interface WireHeader {
  readonly revision: number
}

export interface WireRange {
  readonly header: WireHeader
  readonly kvs: readonly WireKeyValue[]
  /** The number of keys in the whole range, even if a limit cut it. */
  readonly count: number
}

export interface WireTxn {
  readonly header: WireHeader
  readonly succeeded: boolean
  readonly responses: readonly {
    readonly responseRange?: { readonly kvs: readonly WireKeyValue[] } | null
    readonly responsePut?: { readonly prevKv?: WireKeyValue | null } | null
    readonly responseDeleteRange?: { readonly prevKvs: readonly WireKeyValue[] } | null
  }[]
}

export interface WireEvent {
  readonly type: number
  readonly kv: WireKeyValue
  readonly prevKv?: WireKeyValue | null
}

export interface WireWatch {
  readonly header: WireHeader
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly fragment: boolean
  readonly events: readonly WireEvent[]
}
