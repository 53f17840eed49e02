/** Tests of etcd's tests/common that a server of one member cannot pass, by the reason. */
const excused: Readonly<Record<string, readonly string[]>> = Object.freeze({
  'three members': ['TestEndpointHashKV', 'TestKVGetNoQuorum', 'TestAuthMemberRemove'],
  'changes of members': ['TestAuthMemberAdd', 'TestMemberAdd', 'TestMemberRemove'],
  'signed tokens': [
    'TestAuthJWTExpire',
    'TestAuthLeaseTimeToLive',
    'TestAuthRevisionConsistency',
    'TestAuthTestCacheReload',
  ],
})

export const commonExcused: ReadonlySet<string> = new Set(Object.values(excused).flat())

/** Subtests that start several members, or need signed tokens. */
export const commonSkipped = '.*/^(Peer(Auto)?TLS|JWT)$'
