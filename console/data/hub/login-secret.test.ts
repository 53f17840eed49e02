import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyLogin, isLoginComplete, loginData, type LoginForm } from './login-secret.ts'

const text = (encoded = ''): string => Buffer.from(encoded, 'base64').toString('utf8')

test('a login that is typed in becomes the keys that the hub reads, and empty fields are left out', () => {
  const password: LoginForm = { ...emptyLogin, kind: 'password', password: 'pässwort ' }
  const data = loginData(password)
  assert.deepEqual([Object.keys(data ?? {}), text(data?.password)], [['password'], 'pässwort '])
  const key = loginData({
    ...emptyLogin,
    kind: 'key',
    // A password that was typed before the kind was changed is not sent.
    password: 'before',
    privateKey: '\n-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----  ',
    passphrase: 'p',
    sudoPassword: 's',
  })
  assert.deepEqual(Object.keys(key ?? {}), ['ssh-privatekey', 'passphrase', 'sudo-password'])
  assert.match(text(key?.['ssh-privatekey']), /^-----BEGIN[^]*-----\n$/)
  assert.equal(loginData({ ...password, kind: 'secret', secret: 'x' }), undefined)
})

test('a login is complete when every field is filled in that its kind needs', () => {
  const complete = [
    { ...emptyLogin, secret: 'x' },
    { ...emptyLogin, kind: 'password', password: ' ' },
    { ...emptyLogin, kind: 'key', privateKey: 'k' },
  ] as const
  const incomplete = [
    { ...complete[0], secret: ' ' },
    { ...complete[0], kind: 'password' },
    { ...complete[1], kind: 'key' },
  ] as const
  assert.deepEqual(complete.map(isLoginComplete), [true, true, true])
  assert.deepEqual(incomplete.map(isLoginComplete), [false, false, false])
})
