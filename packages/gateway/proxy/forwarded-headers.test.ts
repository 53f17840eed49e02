import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answeredHeaders, forwardedHeaders, impersonation } from './forwarded-headers.ts'

const user = { name: 'olga', groups: [], extra: {} }
const request = { user, auditId: 'id', sourceAddress: '192.0.2.1' }
const ours = { 'impersonate-user': 'olga', 'audit-id': 'id', 'x-forwarded-for': '192.0.2.1' }

test('headers that could speak for the client, or belong to one hop, stay on the hub', () => {
  const dropped = [
    'Authorization',
    'IMPERSONATE-USER',
    'Impersonate-Extra-Scopes',
    'impersonate_user',
    'X-Remote-User',
    'x-remote-extra-a',
    'x_remote_group',
    'X-Forwarded-For',
    'x-forwarded-host',
    'Forwarded',
    'Via',
    'Host',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'HTTP2-Settings',
    'Expect',
    'Audit-Id',
    ':path',
  ]
  for (const name of dropped) {
    const fields = [[name, 'value']] as const
    assert.deepEqual(forwardedHeaders({ ...request, fields }), ours, name)
  }
})

test('headers that Connection names are for the hub alone', () => {
  const fields = [
    ['Connection', 'close, X-Secret'],
    ['x-secret', '1'],
    ['Accept', 'a'],
    ['Accept', 'b'],
  ] as const
  assert.deepEqual(forwardedHeaders({ ...request, fields }), { accept: ['a', 'b'], ...ours })
})

test('a header may have the name of a member that every object has', () => {
  const fields = [
    ['constructor', 'a'],
    ['__proto__', 'b'],
  ] as const
  const headers = forwardedHeaders({ ...request, fields })
  assert.deepEqual(Object.entries(headers).slice(0, 2), [
    ['constructor', ['a']],
    ['__proto__', ['b']],
  ])
  const answered = answeredHeaders(headers)
  assert.deepEqual(Object.keys(answered).slice(0, 2), ['constructor', '__proto__'])
})

test('a body has one length', () => {
  for (const lengths of [['1', '2'], ['5', '5'], ['-1'], ['1,2'], ['0x1'], ['']]) {
    const fields = lengths.map((length) => ['Content-Length', length] as const)
    assert.throws(() => forwardedHeaders({ ...request, fields }), { reason: 'BadRequest' })
  }
})

test('users are named as client-go names them', () => {
  assert.deepEqual(
    impersonation({
      name: 'Jörg',
      uid: '7',
      groups: ['crew', 'system:authenticated', 'system:unauthenticated'],
      extra: { 'example.org/Scope %': ['a', 'b'], plain: ['c'] },
    }),
    {
      'impersonate-user': Buffer.from('Jörg').toString('latin1'),
      'impersonate-uid': '7',
      'impersonate-group': ['crew'],
      'impersonate-extra-example.org%2fscope%20%25': ['a', 'b'],
      'impersonate-extra-plain': ['c'],
    },
  )
  assert.throws(() => impersonation({ name: '', groups: [], extra: {} }), {
    reason: 'Unauthorized',
  })
})
