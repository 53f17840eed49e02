import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '@skerry/api'
import { nodeNameGroup, type SigningRequest } from '@skerry/pki'
import { automaticApprovals } from './approval-plan.ts'
import { isStale } from './csr-cleaner-controller.ts'
import { faultOf, lifetimeOf } from './signing-rules.ts'

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

/** A request with a token for one node. */
function boundTo(nodeName: string): CertificateSigningRequest {
  const asked = csr('kube-apiserver-client-kubelet', 'system:bootstrap:abcdef', client)
  const groups = ['system:bootstrappers', nodeNameGroup(nodeName)]
  return { ...asked, ...(asked.spec && { spec: { ...asked.spec, groups } }) }
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
    name: 'a token for one node may ask for that node',
    csr: boundTo('edge-1'),
    request: node,
    expected: ['nodeclient'],
  },
  {
    name: 'a token for one node may not ask for another, which exists perhaps',
    csr: boundTo('edge-10'),
    request: node,
    expected: [],
  },
  {
    name: 'a token for a node with dots in its name may ask for that node',
    csr: boundTo('edge-1.shop.example'),
    request: { ...node, commonName: 'system:node:edge-1.shop.example' },
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
    name: 'a serving certificate for a link-local address, which means the machine itself',
    csr: csr('kubelet-serving', 'system:node:edge-1', server),
    request: { ...serving, dnsNames: [], ipAddresses: ['169.254.20.11'] },
    expected: ['selfnodeserver'],
  },
  {
    name: 'a serving certificate for the name of the API waits for a person',
    csr: csr('kubelet-serving', 'system:node:edge-1', server),
    request: { ...serving, dnsNames: ['kubernetes.default.svc'], ipAddresses: ['169.254.20.11'] },
    expected: [],
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
    fault: /^invalid usage for client certificate: server auth$/,
  },
  {
    name: 'system:masters',
    csr: csr('kube-apiserver-client', 'x', client),
    request: { ...node, organizations: ['system:masters'] },
    fault: /system:masters/,
  },
  {
    name: 'a subject that is not a node',
    csr: csr('kubelet-serving', 'x', server),
    request: { ...serving, commonName: 'admin' },
    fault: /^subject common name does not begin with system:node:$/,
  },
]

for (const row of faults) {
  test(`signing ${row.name}: ${row.fault === undefined ? 'in order' : 'refused, even when approved'}`, () => {
    if (row.fault === undefined) assert.equal(faultOf(row.csr, row.request), undefined)
    else assert.match(faultOf(row.csr, row.request) ?? '', row.fault)
  })
}

const hour = 3_600
const lifetimes = [
  { name: 'as requested', asked: 2 * hour, seconds: 2 * hour },
  { name: 'never less than ten minutes', asked: 60, seconds: 600 },
  { name: 'never more than the signer gives', asked: 999 * hour, seconds: 24 * hour - 300 },
  { name: 'the default lifetime of the signer', asked: undefined, seconds: 24 * hour - 300 },
]

for (const { name, asked, seconds } of lifetimes) {
  test(`a certificate lives: ${name}`, () => {
    const request = csr('kube-apiserver-client', 'x', client)
    if (request.spec && asked !== undefined) request.spec.expirationSeconds = asked
    const { notBeforeMs, notAfterMs } = lifetimeOf(request, {
      durationSecondsMax: 24 * hour,
      nowMs: 0,
    })
    assert.deepEqual([notBeforeMs, notAfterMs], [-300_000, seconds * 1_000])
  })
}

test('requests are removed an hour after they are decided, and after a day without a decision', () => {
  const at = '2026-01-01T00:00:00Z'
  const stale = (type: string | undefined, hours: number, certificate?: string): boolean => {
    const made = csr('kube-apiserver-client', 'x', client)
    const conditions =
      type === undefined ? [] : [{ type, status: 'True', reason: '', lastUpdateTime: at }]
    return isStale(
      {
        ...made,
        metadata: { ...made.metadata, creationTimestamp: at },
        status: { conditions, ...(certificate ? { certificate } : {}) },
      },
      Date.parse(at) + hours * hour * 1_000,
    )
  }
  assert.deepEqual([stale(undefined, 23), stale(undefined, 25)], [false, true])
  assert.deepEqual([stale('Denied', 0.5), stale('Failed', 2)], [false, true])
  assert.deepEqual([stale('Approved', 2), stale('Approved', 25)], [false, true])
  assert.deepEqual([stale('Approved', 0.5, 'eA=='), stale('Approved', 2, 'eA==')], [false, true])
})
