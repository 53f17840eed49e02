import type { HttpStep } from './http-script.ts'

const b64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const all = { key: b64('\0'), range_end: b64('\0') }
const put = (key: string, value: string, more: object = {}): HttpStep => ({
  path: '/v3/kv/put',
  body: { key: b64(key), value: b64(value), ...more },
})
const range = (body: object | string, isMalformed = false): HttpStep => ({
  path: '/v3/kv/range',
  body,
  isMalformed,
})

const keys: readonly HttpStep[] = [
  put('a', '1'),
  put('a', '2', { prev_kv: true }),
  put('b', ''),
  put('b', 'x', { prevKv: true }),
  put('>>>???', 'url'),
  put('', 'x'),
  put('a', 'x', { lease: '4711' }),
  put('a', 'x', { lease: 4_711 }),
  { path: '/v3beta/kv/put', body: { key: b64('beta'), value: b64('1') } },
  range(all),
  range({ key: b64('\0'), rangeEnd: b64('\0'), limit: 1 }),
  range({ ...all, limit: '2', keys_only: true }),
  range({ ...all, countOnly: true }),
  range({ ...all, sort_order: 'DESCEND', sort_target: 'MOD' }),
  range({ ...all, sort_order: 2, sort_target: 2 }),
  range({ ...all, sort_order: 'SIDEWAYS' }),
  range({ ...all, revision: '3' }),
  range({ ...all, revision: 3.0, nonsense: { deep: [1, {}] }, limit: null }),
  range({ ...all, revision: '999' }),
  range({ ...all, revision: '9223372036854775807' }),
  range(`{"key":"AA==","range_end":"AA==","revision":9223372036854775807}`),
  range({ key: 'Pj4-Pz8_' }),
  range({ key: 'YQ' }),
  range({}),
  range(''),
  range('{"key":"YQ=="}  {"key":"Yg=="}'),
  range('{"key":"YQ=="', true),
  range('nonsense', true),
  range('[]', true),
  range('"text"', true),
  range({ key: '%%%' }, true),
  range({ key: 7 }, true),
  range({ key: b64('a'), limit: 'many' }, true),
  range({ key: b64('a'), limit: 1.5 }, true),
  range({ key: b64('a'), limit: '9223372036854775808' }, true),
  range({ key: b64('a'), serializable: 'true' }, true),
  range({ key: b64('a'), sort_order: [] }, true),
]

const mod = (key: string, revision: string) => ({
  key: b64(key),
  target: 'MOD',
  result: 'EQUAL',
  mod_revision: revision,
})
const putT = { request_put: { key: b64('t'), value: b64('1') } }

const changes: readonly HttpStep[] = [
  { path: '/v3/kv/txn', body: {} },
  { path: '/v3/kv/txn', body: { compare: [mod('t', '0')], success: [putT] } },
  {
    path: '/v3/kv/txn',
    body: {
      compare: [mod('t', '0')],
      success: [putT],
      failure: [{ request_range: all }, { requestDeleteRange: { key: b64('t') } }],
    },
  },
  {
    path: '/v3/kv/txn',
    body: {
      compare: [{ key: b64('t'), target: 'CREATE', createRevision: '0' }],
      success: [{ requestTxn: { success: [putT] } }],
    },
  },
  {
    path: '/v3/kv/txn',
    body: { compare: [{ key: b64('t'), target: 'VALUE', result: 'NOT_EQUAL', value: b64('2') }] },
  },
  { path: '/v3/kv/txn', body: { success: [putT, putT] } },
  { path: '/v3/kv/txn', body: { success: [{}] } },
  {
    path: '/v3/kv/txn',
    body: { compare: [{ ...mod('t', '0'), version: '1' }] },
    isMalformed: true,
  },
  { path: '/v3/kv/deleterange', body: { key: b64('b'), prev_kv: true } },
  { path: '/v3/kv/deleterange', body: { key: b64('none') } },
  { path: '/v3/kv/deleterange', body: {} },
]

const leases: readonly HttpStep[] = [
  { path: '/v3/lease/grant', body: { TTL: 9_000, ID: 5 } },
  { path: '/v3/lease/grant', body: { TTL: '9000', ID: '5' } },
  { path: '/v3/lease/grant', body: { TTL: '9000000001' } },
  { path: '/v3/lease/grant', body: `{"TTL":9000,"ID":4611686018427387905}` },
  put('leased', 'x', { lease: 5 }),
  { path: '/v3/lease/keepalive', body: { ID: 5 } },
  { path: '/v3/lease/keepalive', body: '{"ID":"5"}{"ID":"5"}\n{"ID":99}' },
  { path: '/v3/lease/timetolive', body: { ID: '5', keys: true } },
  { path: '/v3/kv/lease/timetolive', body: { ID: '99' } },
  { path: '/v3/lease/leases', body: {} },
  { path: '/v3/kv/lease/leases' },
  { path: '/v3/lease/revoke', body: { ID: '5' } },
  { path: '/v3/kv/lease/revoke', body: { ID: '5' } },
]

const watches: readonly HttpStep[] = [
  {
    path: '/v3/watch',
    body: { create_request: { ...all, start_revision: '2', prev_kv: true } },
    lines: 2,
  },
  {
    path: '/v3/watch',
    body: { createRequest: { key: b64('a'), startRevision: 2, filters: ['NOPUT', 1] } },
    lines: 1,
  },
  { path: '/v3/watch', body: { create_request: { key: b64('b'), range_end: b64('a') } }, lines: 1 },
  {
    path: '/v3/watch',
    body: '{"create_request":{"key":"YQ==","watch_id":"7"}}{"cancel_request":{"watch_id":7}}',
    lines: 2,
  },
]

const upkeep: readonly HttpStep[] = [
  { path: '/v3/kv/compaction', body: { revision: '4', physical: true } },
  { path: '/v3/kv/compaction', body: { revision: 4 } },
  { path: '/v3/kv/compaction', body: { revision: 999 } },
  range({ ...all, revision: 2 }),
  { path: '/v3/watch', body: { create_request: { ...all, start_revision: 2 } }, lines: 2 },
  { path: '/v3/maintenance/hashkv', body: {} },
  { path: '/v3/maintenance/alarm', body: {} },
  { path: '/v3/maintenance/alarm', body: { action: 'ACTIVATE', alarm: 'NOSPACE' } },
  { method: 'GET', path: '/health' },
  { method: 'GET', path: '/health?exclude=NOSPACE' },
  put('refused', 'x'),
  { path: '/v3/maintenance/alarm', body: { action: 'DEACTIVATE', alarm: 'NOSPACE' } },
  { path: '/v3/maintenance/status', body: {} },
  { path: '/v3/maintenance/defragment', body: {} },
  { path: '/v3/cluster/member/list', body: {} },
  { path: '/v3/auth/status' },
]

const pages: readonly HttpStep[] = [
  { method: 'GET', path: '/version' },
  { path: '/version' },
  { method: 'GET', path: '/health' },
  { method: 'GET', path: '/health?serializable=true' },
  { path: '/health' },
  { method: 'GET', path: '/livez' },
  { method: 'GET', path: '/livez?verbose' },
  { method: 'GET', path: '/readyz?verbose' },
  { method: 'GET', path: '/readyz?verbose&exclude=non_learner' },
  { method: 'GET', path: '/readyz/serializable_read' },
  { path: '/readyz' },
  { method: 'GET', path: '/metrics' },
  { method: 'GET', path: '/nothing' },
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/v3/kv/range' },
  { path: '/v3/kv/nothing', body: {} },
  { path: '/v3/nothing', body: {} },
]

/** The requests that a person would try first, and each mistake that has an answer of its own. */
export const gatewayScript: readonly HttpStep[] = [
  ...pages,
  ...keys,
  ...changes,
  ...leases,
  ...watches,
  ...upkeep,
]
