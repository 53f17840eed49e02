import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '@skerry/api'
import { isOwnRequest } from './agent-csr-approving-controller.ts'

const tokenGroups = ['system:bootstrappers', 'system:bootstrappers:karmada:agent:shop']
const usages = ['digital signature', 'client auth']
const request = {
  commonName: 'system:karmada:agent:shop',
  organizations: ['system:karmada:agents'],
  publicKeyPem: '',
  dnsNames: [],
  ipAddresses: [],
  emails: [],
  uris: [],
}
const token = { username: 'system:bootstrap:abcdef', groups: tokenGroups, usages }
const agent = { username: request.commonName, groups: ['system:karmada:agents'], usages }

test('a certificate is approved for the agent that asks, or the cluster of the token', () => {
  const table: [what: string, spec: object, changes: object, want: boolean][] = [
    ['with the token', token, {}, true],
    ['RSA keys', { ...token, usages: [...usages, 'key encipherment'] }, {}, true],
    ['renewal', agent, {}, true],
    ['token of another cluster', token, { commonName: 'system:karmada:agent:bank' }, false],
    ['renewal for another', agent, { commonName: 'system:karmada:agent:bank' }, false],
    ['an administrator', token, { organizations: ['system:masters'] }, false],
    ['two groups', token, { organizations: ['system:karmada:agents', 'system:masters'] }, false],
    ['no group', token, { organizations: [] }, false],
    ['a server name', token, { dnsNames: ['hub'] }, false],
    ['server auth', { ...token, usages: [...usages, 'server auth'] }, {}, false],
    ['no client auth', { ...token, usages: ['digital signature'] }, {}, false],
    [
      'a token with two clusters',
      { ...token, groups: [...tokenGroups, `${tokenGroups[1]}2`] },
      {},
      false,
    ],
    [
      'a node token',
      { ...token, groups: ['system:bootstrappers:kubeadm:default-node-token'] },
      {},
      false,
    ],
    ['a person in the token group', { ...token, username: 'karl' }, {}, false],
    ['an agent outside the group', { ...agent, groups: [] }, {}, false],
  ]
  for (const [what, spec, changes, want] of table) {
    const csr: CertificateSigningRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'csr' },
      spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client', ...spec },
    }
    assert.equal(isOwnRequest(csr, { ...request, ...changes }), want, what)
  }
})
