import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '@skerry/api'
import { isOwnRequest } from './agent-csr-approving-controller.ts'
import { virtualAgentAsked } from './virtual-agent-request.ts'

const agents = 'system:karmada:agents'
const ofBank = 'system:skerry:virtual-of:bank'
const usages = ['digital signature', 'client auth']
const bank = { username: 'system:karmada:agent:bank', groups: [agents], usages }
const east = { username: 'system:karmada:agent:bank-east', groups: [ofBank], usages }
const asked = {
  commonName: 'system:karmada:agent:bank-east',
  organizations: [ofBank],
  publicKeyPem: '',
  dnsNames: [],
  ipAddresses: [],
  emails: [],
  uris: [],
}

test("a virtual cluster's certificate may be requested by its parent or itself, and by nobody else", () => {
  const table: [what: string, spec: object, changes: object, want: boolean][] = [
    ['its parent', bank, {}, true],
    ['itself', east, {}, true],
    ['another agent', { ...bank, username: 'system:karmada:agent:shop' }, {}, false],
    ['a sibling', { ...east, username: 'system:karmada:agent:bank-west' }, {}, false],
    ['one of another parent', { ...east, groups: ['system:skerry:virtual-of:shop'] }, {}, false],
    ['for another parent', bank, { organizations: ['system:skerry:virtual-of:shop'] }, false],
    ['a whole cluster', bank, { organizations: [agents] }, false],
    ['itself as a whole cluster', east, { organizations: [agents] }, false],
    ['itself as its parent', east, { commonName: bank.username, organizations: [agents] }, false],
    ['both', bank, { organizations: [ofBank, agents] }, false],
    ['an administrator', bank, { organizations: [ofBank, 'system:masters'] }, false],
    ['two parents', bank, { organizations: [ofBank, 'system:skerry:virtual-of:x'] }, false],
    ['a server name', bank, { dnsNames: ['hub'] }, false],
    ['server auth', { ...bank, usages: [...usages, 'server auth'] }, {}, false],
    ['a person', { ...bank, groups: ['system:masters'] }, {}, false],
    [
      'a token',
      {
        username: 'system:bootstrap:abcdef',
        groups: ['system:bootstrappers:karmada:agent:bank'],
        usages,
      },
      {},
      false,
    ],
  ]
  for (const [what, spec, changes, want] of table) {
    const csr: CertificateSigningRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'csr' },
      spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client', ...spec },
    }
    const request = { ...asked, ...changes }
    const found = virtualAgentAsked(csr, request)
    const wanted = want ? { cluster: 'bank-east', parent: 'bank' } : undefined
    assert.deepEqual(found, wanted, what)
    assert.equal(isOwnRequest(csr, request), false, what)
  }
})
