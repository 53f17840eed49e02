import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machinesOf } from '../kind/machine-addresses.ts'
import { loginOf, secretsOf } from './login-of-secret.ts'

const block = { addresses: ['10.0.0.11'], credentials: { name: 'ssh' }, user: 'admin', port: 2222 }
const [machine] = machinesOf({ machines: [block] })
assert.ok(machine)

function secret(texts: Readonly<Record<string, string>>): Parameters<typeof loginOf>[1] {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ssh' }, data }
}

const logins: readonly [Readonly<Record<string, string>>, object][] = [
  [{ password: 'secret' }, { password: 'secret' }],
  [{ password: 'secret\n' }, { password: 'secret' }],
  [{ password: ' two\r\n' }, { password: ' two' }],
  [
    { 'ssh-privatekey': 'KEY\n', passphrase: 'p\n' },
    { privateKey: 'KEY\n', passphrase: 'p' },
  ],
  [
    { password: 'a', 'sudo-password': 'b' },
    { password: 'a', sudoPassword: 'b' },
  ],
]
for (const [texts, login] of logins) {
  test(`a Secret with ${Object.keys(texts).join(' and ')} is a login`, () => {
    assert.deepEqual(loginOf(machine, secret(texts)), { user: 'admin', port: 2222, ...login })
  })
}

test('a Secret that does not exist or has no key of ours is named', () => {
  assert.throws(() => loginOf(machine, undefined), /there is no Secret ssh/)
  const wrong = /Secret ssh has neither password nor ssh-privatekey/
  assert.throws(() => loginOf(machine, secret({ user: 'a' })), wrong)
})

test('each line of a private key is a secret of its own', () => {
  const login = { user: 'a', port: 22, password: 'p', privateKey: 'one\ntwo', passphrase: 'q' }
  assert.deepEqual(secretsOf({ ...login, sudoPassword: 's' }), ['p', 'q', 's', 'one', 'two'])
})
