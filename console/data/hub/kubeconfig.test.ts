import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kubeconfigOf, type KubeconfigLogin } from './kubeconfig.ts'

const wish = {
  server: 'https://hub:7443',
  authority: '-----BEGIN CERTIFICATE-----',
  clusters: ['shop-7'],
  hasHub: true,
  login: { is: 'token-file', path: '/home/olga/hub-token' },
} as const

test('a kubeconfig leads through the hub, and names a file in place of a secret', () => {
  const trust = { 'certificate-authority-data': btoa('-----BEGIN CERTIFICATE-----') }
  assert.deepEqual(kubeconfigOf(wish), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'hub', cluster: { server: 'https://hub:7443', ...trust } },
      { name: 'shop-7', cluster: { server: 'https://hub:7443/clusters/shop-7', ...trust } },
    ],
    contexts: [
      { name: 'hub', context: { cluster: 'hub', user: 'hub-user' } },
      { name: 'shop-7', context: { cluster: 'shop-7', user: 'hub-user' } },
    ],
    'current-context': 'hub',
    users: [{ name: 'hub-user', user: { tokenFile: '/home/olga/hub-token' } }],
  })
})

test('no kind of login puts a credential into the file', () => {
  const logins: readonly KubeconfigLogin[] = [
    { is: 'certificate', certificatePath: 'olga.crt', keyPath: 'olga.key' },
    { is: 'issuer', issuer: { issuerUrl: 'https://id.example.com', clientId: 'skerry' } },
  ]
  for (const login of logins) {
    const made = kubeconfigOf({ ...wish, authority: undefined, hasHub: false, login })
    const text = JSON.stringify(made)
    assert.doesNotMatch(text, /"(?:token|password|client-key-data|client-certificate-data)"/)
    assert.equal(made['current-context'], 'shop-7')
    assert.doesNotMatch(text, /certificate-authority-data/)
  }
})
