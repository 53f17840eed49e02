import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyRevision, encodeContinue, parseContinue } from './continue-token.ts'

const prefix = 'invalid continue token: continue key is not valid: '

test('a token leads to where the list stopped', () => {
  for (const token of [
    { revision: 7, after: 'ns/a' },
    { revision: anyRevision, after: 'b' },
  ]) {
    assert.deepEqual(parseContinue(encodeContinue(token)), token)
  }
})

test('a token that the server never gave is refused, in the words of upstream', () => {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const v = 'meta.k8s.io/v1'
  const table: readonly [string, string][] = [
    ['x', 'illegal base64 data at input byte 0'],
    ['ab+d', 'illegal base64 data at input byte 2'],
    [encoded({}), 'server does not recognize this encoded version '],
    [
      encoded({ v: 'meta.k8s.io/v2', rv: 1, start: 'a' }),
      'server does not recognize this encoded version meta.k8s.io/v2',
    ],
    [
      encoded({ v, rv: 0, start: 'a' }),
      'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [encoded({ v, rv: 5, start: '' }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [encoded({ v, rv: 5, start: '../x' }), '../x'],
  ]
  for (const [text, why] of table) {
    assert.throws(() => parseContinue(text), { message: `${prefix}${why}` }, text)
  }
})
