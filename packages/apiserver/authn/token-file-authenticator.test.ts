import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenFileAuthenticator } from './token-file-authenticator.ts'

const never = new AbortController().signal

test('a token of the file is its user, and no other token is', async () => {
  const text = 't0ken,ada,7,"team, ops"\n\n"sp,ecial",bob,8\n'
  const tokens = createTokenFileAuthenticator(text)
  const ask = (token: string) => tokens.authenticateToken(token, [], never)
  assert.deepEqual((await ask('t0ken'))?.user, {
    name: 'ada',
    uid: '7',
    groups: ['team', 'ops'],
    extra: {},
  })
  assert.deepEqual((await ask('sp,ecial'))?.user.groups, [])
  assert.equal(await ask('t0ken '), undefined)
  assert.equal(await ask(''), undefined)
})

test('a line may leave the user id empty, with or without groups', async () => {
  const tokens = createTokenFileAuthenticator('a,ada,\nb,bob,,"team"\n')
  const ask = (token: string) => tokens.authenticateToken(token, [], never)
  assert.deepEqual((await ask('a'))?.user, { name: 'ada', uid: '', groups: [], extra: {} })
  assert.deepEqual((await ask('b'))?.user, { name: 'bob', uid: '', groups: ['team'], extra: {} })
})

test('an incomplete line is refused with its number', () => {
  assert.throws(() => createTokenFileAuthenticator('a,b,1\nc,d\n'), /line 2: expected token/)
})
