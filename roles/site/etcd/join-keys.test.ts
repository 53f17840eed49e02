import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from '@skerry/apiserver'
import {
  keysSecretName,
  mastersGroup,
  masterTokenText,
  newMasterKey,
  openKeys,
  parseMasterToken,
  sealKeys,
  type MasterKeys,
} from './join-keys.ts'
import { keysAuthorizer } from './keys-authorizer.ts'

const keys: MasterKeys = {
  replicaKey: 'replica',
  etcdAuthority: { certificatePem: 'certificate', privateKeyPem: 'key' },
  members: [{ name: 'master-1', clientUrl: 'https://10.0.0.1:2379' }],
  prefix: '/skerry/site',
  settings: { '--name': 'site' },
}
const token = { bootstrap: 'abcdef.0123456789abcdef', key: newMasterKey() }

test('the keys of masters open with their own token only', () => {
  const sealed = sealKeys(keys, token)
  assert.deepEqual(openKeys(sealed, token), keys)
  assert.equal(openKeys(sealed, { ...token, key: newMasterKey() }), undefined)
  assert.equal(openKeys(sealed, { ...token, bootstrap: 'ghijkl.0123456789abcdef' }), undefined)
  const changed = Buffer.from(sealed)
  changed[40] = (changed[40] ?? 0) ^ 1
  assert.equal(openKeys(changed, token), undefined)
  assert.equal(openKeys(sealed.subarray(0, 20), token), undefined)
  assert.equal(openKeys(new Uint8Array(0), token), undefined)
})

test('a token of masters is read as it was printed, and a token of nodes is not one', () => {
  const text = masterTokenText(token)
  assert.deepEqual(parseMasterToken(`${text}\n`), token)
  for (const bad of ['', token.bootstrap, `${text}x`, text.slice(0, -1), 'a.b.c']) {
    assert.equal(parseMasterToken(bad), undefined, bad)
  }
})

const asked: Attributes = {
  user: { name: 'system:bootstrap:abcdef', groups: [mastersGroup], extra: {} },
  verb: 'get',
  path: '',
  isResourceRequest: true,
  resource: { group: '', version: 'v1', resource: 'secrets' },
  subresource: '',
  namespace: 'kube-system',
  name: keysSecretName('abcdef'),
}

const others: readonly (readonly [string, Partial<Attributes>])[] = [
  ['the keys of another token', { name: keysSecretName('ghijkl') }],
  ['the token itself', { name: 'bootstrap-token-abcdef' }],
  ['all Secrets', { verb: 'list', name: '' }],
  ['a Secret of the same name elsewhere', { namespace: 'default' }],
  ['a change of the keys', { verb: 'update' }],
  ['the keys with a token of nodes', { user: { ...asked.user, groups: [] } }],
  ['the keys as another user', { user: { ...asked.user, name: 'abcdef' } }],
]

test('a joining master may read its own keys', async () => {
  assert.equal((await keysAuthorizer.authorize(asked)).verdict, 'allow')
})

for (const [what, change] of others) {
  test(`a joining master may not ask for ${what}`, async () => {
    const { verdict } = await keysAuthorizer.authorize({ ...asked, ...change })
    assert.equal(verdict, 'no-opinion')
  })
}
