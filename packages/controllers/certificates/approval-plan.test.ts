import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '@skerry/api'
import type { SigningRequest } from '@skerry/pki'
import { automaticApprovals } from './approval-plan.ts'
import { faultOf } from './csr-signing-controller.ts'

const node: SigningRequest = {
  commonName: 'system:node:edge-1',
  organizations: ['system:nodes'],
  publicKeyPem: '',
  dnsNames: [],
  ipAddresses: [],
  emails: [],
  uris: [],
}
const serving = { ...node, dnsNames: ['edge-1'], ipAddresses: ['10.0.0.7'] }

function csr(signer: string, username: string, usages: string[]): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'x' },
    spec: { request: '', signerName: `kubernetes.io/${signer}`, username, usages },
  }
}

const client = ['digital signature', 'client auth']
const server = ['digital signature', 'server auth']
const addresses = (): ReadonlySet<string> => new Set(['edge-1', '10.0.0.7'])

const table: {
  name: string
  csr: CertificateSigningRequest
  request: SigningRequest
  expected: string[]
}[] = [
  {
    name: 'a bootstrap token may ask for a node',
    csr: csr('kube-apiserver-client-kubelet', 'system:bootstrap:abcdef', client),
    request: node,
    expected: ['nodeclient'],
  },
  {
    name: 'a node may renew its own',
    csr: csr('kube-apiserver-client-kubelet', 'system:node:edge-1', client),
    request: node,
    expected: ['selfnodeclient', 'nodeclient'],
  },
  {
    name: 'a client certificate with names is not approved',
    csr: csr('kube-apiserver-client-kubelet', 'system:node:edge-1', client),
    request: serving,
    expected: [],
  },
  {
    name: 'another group is not approved',
    csr: csr('kube-apiserver-client-kubelet', 'system:bootstrap:abcdef', client),
    request: { ...node, organizations: ['system:masters'] },
    expected: [],
  },
  {
    name: 'a second group is not approved',
    csr: csr('kube-apiserver-client-kubelet', 'system:bootstrap:abcdef', client),
    request: { ...node, organizations: ['system:nodes', 'system:masters'] },
    expected: [],
  },
  {
    name: 'a serving certificate for its own addresses',
    csr: csr('kubelet-serving', 'system:node:edge-1', server),
    request: serving,
    expected: ['selfnodeserver'],
  },
  {
    name: 'a serving certificate for a foreign address waits for a person',
    csr: csr('kubelet-serving', 'system:node:edge-1', server),
    request: { ...serving, ipAddresses: ['10.0.0.1'] },
    expected: [],
  },
  {
    name: 'a serving certificate for another node',
    csr: csr('kubelet-serving', 'system:node:edge-2', server),
    request: serving,
    expected: [],
  },
]

for (const row of table) {
  test(row.name, () => {
    const approvals = automaticApprovals(row.csr, row.request, addresses)
    assert.deepEqual(
      approvals.map((each) => each.subresource),
      row.expected,
    )
  })
}

const faults: {
  name: string
  csr: CertificateSigningRequest
  request: SigningRequest
  fault: RegExp | undefined
}[] = [
  {
    name: 'a node client',
    csr: csr('kube-apiserver-client-kubelet', 'x', client),
    request: node,
    fault: undefined,
  },
  {
    name: 'a usage the signer does not give',
    csr: csr('kube-apiserver-client', 'x', [...client, 'server auth']),
    request: node,
    fault: /server auth/,
  },
  {
    name: 'system:masters',
    csr: csr('kube-apiserver-client', 'x', client),
    request: { ...node, organizations: ['system:masters'] },
    fault: /system:masters/,
  },
  {
    name: 'a subject that is no node',
    csr: csr('kubelet-serving', 'x', server),
    request: { ...serving, commonName: 'admin' },
    fault: /not that of a node/,
  },
]

for (const row of faults) {
  test(`signing ${row.name}: ${row.fault === undefined ? 'in order' : 'refused, even when approved'}`, () => {
    if (row.fault === undefined) assert.equal(faultOf(row.csr, row.request), undefined)
    else assert.match(faultOf(row.csr, row.request) ?? '', row.fault)
  })
}
