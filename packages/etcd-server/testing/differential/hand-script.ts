import type { Script, Step } from './script.ts'

const b = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const put = (key: string, value: string): Step => ({
  call: 'Put',
  request: { key: b(key), value: b(value) },
})
const all = { key: b('\0'), rangeEnd: b('\0') }
const large = Buffer.alloc(1_572_864, 'x')

const writes: readonly Step[] = [
  put('a', '1'),
  put('a', '2'),
  put('b', '1'),
  put('c', ''),
  { call: 'Put', request: { key: b('a'), value: b('3'), prevKv: true } },
  { call: 'Put', request: { key: b('a'), ignoreValue: true } },
  { call: 'Put', request: { key: b('missing'), ignoreValue: true } },
  { call: 'Put', request: { key: b('missing'), ignoreLease: true, value: b('x') } },
  { call: 'Put', request: { key: b('a'), ignoreValue: true, value: b('x') } },
  { call: 'Put', request: { key: b('a'), ignoreLease: true, lease: 5n } },
  { call: 'Put', request: { key: b('a'), value: b('x'), lease: 4_711n } },
  { call: 'Put', request: { value: b('x') } },
  { call: 'Put', request: { key: b('large'), value: large } },
  { call: 'Put', request: { key: b('huge'), value: Buffer.alloc(2_200_000) } },
  { call: 'DeleteRange', request: {} },
  { call: 'DeleteRange', request: { key: b('none') } },
  { call: 'DeleteRange', request: { key: b('b'), prevKv: true } },
  put('b', 'again'),
]

const reads: readonly Step[] = [
  { call: 'Range', request: all },
  { call: 'Range', request: {} },
  { call: 'Range', request: { ...all, revision: 3 } },
  { call: 'Range', request: { ...all, revision: 999 } },
  { call: 'Range', request: { ...all, revision: -5 } },
  { call: 'Range', request: { ...all, limit: 1 } },
  { call: 'Range', request: { ...all, limit: -1 } },
  { call: 'Range', request: { ...all, countOnly: true } },
  { call: 'Range', request: { ...all, keysOnly: true } },
  { call: 'Range', request: { ...all, sortOrder: 2 } },
  { call: 'Range', request: { ...all, sortTarget: 3, sortOrder: 1 } },
  { call: 'Range', request: { ...all, sortTarget: 2, sortOrder: 2 } },
  { call: 'Range', request: { ...all, sortTarget: 3 } },
  { call: 'Range', request: { ...all, sortTarget: 9 } },
  { call: 'Range', request: { ...all, sortOrder: 9 } },
  { call: 'Range', request: { key: b('b'), rangeEnd: b('a') } },
  { call: 'Range', request: { ...all, minModRevision: 4, limit: 1 } },
]

const mod = (key: string, modRevision: number) => ({ key: b(key), target: 2, modRevision })
const putA = { requestPut: { key: b('a'), value: b('t') } }

const transactions: readonly Step[] = [
  { call: 'Txn', request: {} },
  { call: 'Txn', request: { success: [{}] } },
  { call: 'Txn', request: { compare: [{}] } },
  { call: 'Txn', request: { compare: [mod('none', 0)], success: [putA] } },
  { call: 'Txn', request: { compare: [mod('a', 1)], failure: [{ requestRange: all }] } },
  { call: 'Txn', request: { success: [putA, putA] } },
  { call: 'Txn', request: { success: [putA, { requestDeleteRange: { key: b('a') } }] } },
  { call: 'Txn', request: { success: [{ requestTxn: { success: [putA] } }, putA] } },
  { call: 'Txn', request: { success: [{ requestTxn: { success: [putA], failure: [putA] } }] } },
  { call: 'Txn', request: { success: [{ requestRange: { ...all, revision: 999 } }] } },
  {
    call: 'Txn',
    request: { success: [putA, { requestPut: { key: b('n'), lease: 4_711n } }] },
  },
  { call: 'Txn', request: { success: Array.from({ length: 129 }, () => ({ requestRange: all })) } },
  {
    call: 'Txn',
    request: {
      success: [
        { requestDeleteRange: { key: b('a'), rangeEnd: b('b'), prevKv: true } },
        { requestRange: { ...all, limit: 2 } },
        { requestTxn: { compare: [mod('a', 0)], failure: [{ requestRange: { key: b('b') } }] } },
      ],
    },
  },
  { call: 'Txn', request: { compare: [{ key: b('none'), target: 3, value: b('') }] } },
  { call: 'Txn', request: { compare: [{ ...all, target: 1, result: 1 }] } },
]

const leases: readonly Step[] = [
  { call: 'LeaseGrant', request: { id: 5n, ttl: 9_000 } },
  { call: 'LeaseGrant', request: { id: 5n, ttl: 9_000 } },
  { call: 'LeaseGrant', request: { id: 2n ** 62n + 1n, ttl: 9_000 } },
  { call: 'LeaseGrant', request: { id: 6n, ttl: 9_000_000_001 } },
  { call: 'Put', request: { key: b('leased/2'), value: b('x'), lease: 5n } },
  { call: 'Put', request: { key: b('leased/1'), value: b('x'), lease: 5n } },
  { call: 'Put', request: { key: b('leased/3'), value: b('x'), lease: 2n ** 62n + 1n } },
  { call: 'LeaseTimeToLive', request: { id: 5n, keys: true } },
  { call: 'LeaseTimeToLive', request: { id: 5n } },
  { call: 'LeaseTimeToLive', request: { id: 99n } },
  { call: 'LeaseLeases', request: {} },
  { call: 'LeaseRevoke', request: { id: 5n } },
  { call: 'LeaseRevoke', request: { id: 5n } },
  { call: 'Range', request: all },
]

const upkeep: readonly Step[] = [
  { call: 'Alarm', request: {} },
  { call: 'Alarm', request: { action: 1, alarm: 1 } },
  put('refused', 'x'),
  { call: 'DeleteRange', request: { key: b('c') } },
  { call: 'LeaseGrant', request: { id: 8n, ttl: 9_000 } },
  { call: 'Range', request: { key: b('b') } },
  { call: 'Alarm', request: { action: 2, alarm: 1 } },
  { call: 'Alarm', request: {} },
  { call: 'AuthStatus', request: {} },
  { call: 'Compact', request: { revision: 999 } },
  { call: 'Compact', request: { revision: 8, physical: true } },
  { call: 'Compact', request: { revision: 8 } },
  { call: 'Range', request: { ...all, revision: 7 } },
  { call: 'Range', request: { ...all, revision: 8 } },
  { call: 'Txn', request: { success: [{ requestRange: { ...all, revision: 2 } }] } },
  { call: 'HashKV', request: { revision: 2 } },
  { call: 'HashKV', request: { revision: 999 } },
]

/** The requests that a person would try first, and each mistake that has an answer of its own. */
export const handScript: Script = {
  steps: [...writes, ...reads, ...transactions, ...leases, ...upkeep],
  watches: [
    { ...all, startRevision: 8 },
    { ...all, startRevision: 8, prevKv: true },
    { ...all, startRevision: 7 },
    { ...all, startRevision: 9, filters: [0] },
    { ...all, startRevision: 9, filters: [1], fragment: true },
    { startRevision: 9, rangeEnd: b('\0') },
    { key: b('b'), rangeEnd: b('a'), startRevision: 9 },
    { key: b('b'), rangeEnd: b('b'), startRevision: 9 },
  ],
}
