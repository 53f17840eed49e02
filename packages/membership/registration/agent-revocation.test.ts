import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import { silentLogger, simulatedClock } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import {
  createAuthority,
  generateKeyPair,
  readCertificate,
  signCertificate,
  type Certificate,
} from '@skerry/pki'
import { startTestApiServer } from '@skerry/testing'
import {
  agentSerialPrefix,
  isRevoked,
  revocationsKey,
  revokeAgent,
  revokedSince,
} from './agent-revocation.ts'

const agents = ['system:karmada:agents']
const bank = { username: 'system:karmada:agent:bank', groups: agents }
const east = {
  username: 'system:karmada:agent:bank-east',
  groups: ['system:skerry:virtual-of:bank'],
}
const token = {
  username: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers:karmada:agent:bank'],
}
const asked = '2026-03-01T12:00:05Z'

test('a revocation voids earlier certificate requests of the cluster and of its virtual clusters', () => {
  const table: [what: string, asker: object, revoked: object, want: string | undefined][] = [
    ['nobody was revoked', bank, {}, undefined],
    ['an hour later', bank, { bank: '2026-03-01T13:00:05.000Z' }, 'bank'],
    ['in the same second', bank, { bank: '2026-03-01T12:00:05.300Z' }, 'bank'],
    ['in the second before', bank, { bank: '2026-03-01T12:00:04.999Z' }, undefined],
    ['another cluster', bank, { shop: '2026-03-01T13:00:05.000Z' }, undefined],
    ['its virtual cluster', bank, { 'bank-east': '2026-03-01T13:00:05.000Z' }, undefined],
    ['a virtual cluster', east, { 'bank-east': '2026-03-01T13:00:05.000Z' }, 'bank-east'],
    ['the parent', east, { bank: '2026-03-01T13:00:05.000Z' }, 'bank'],
    ['the parent, before', east, { bank: '2026-03-01T11:00:05.000Z' }, undefined],
    ['at a time that nobody can read', bank, { bank: 'soon' }, 'bank'],
    // A token that is deleted is looked after elsewhere; a new one makes a new start.
    ['a token', token, { bank: '2026-03-01T13:00:05.000Z' }, undefined],
    ['a person', { username: 'rita', groups: [] }, { rita: '2026-03-01T13:00:05Z' }, undefined],
  ]
  for (const [what, asker, revoked, want] of table) {
    const csr: CertificateSigningRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'csr', creationTimestamp: asked },
      spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client', ...asker },
    }
    const nowMs = Date.parse(asked) + 7_200_000
    assert.equal(revokedSince(csr, new Map(Object.entries(revoked)), nowMs), want, what)
  }
})

test('a request that was asked in the future, by a clock that was ahead, is void once its asker was revoked', () => {
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr', creationTimestamp: asked },
    spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client', ...bank },
  }
  const before = Date.parse(asked) - 3_600_000
  const revoked = new Map([['bank', new Date(before - 1_000).toISOString()]])
  assert.equal(revokedSince(csr, revoked, before), 'bank')
  assert.equal(revokedSince(csr, new Map(), before), undefined)
})

const backdateMs = 300_000
const dayMs = 86_400_000
const nowMs = Date.UTC(2026, 10, 23)

/** Issues a certificate as the hub does now, by a clock that is off by this much. */
async function issue(
  objects: Objects,
  { username: name, groups }: { username: string; groups: readonly string[] },
  offMs: number,
) {
  const { publicKeyPem } = await generateKeyPair()
  const authority = await createAuthority({
    subject: { commonName: 'hub' },
    notBeforeMs: 0,
    notAfterMs: nowMs + 5_000 * dayMs,
  })
  const pem = await signCertificate(authority, {
    subject: { commonName: name, organizations: groups },
    publicKeyPem,
    serialPrefix: agentSerialPrefix(objects, { name, groups }),
    notBeforeMs: nowMs + offMs - backdateMs,
    notAfterMs: nowMs + offMs + dayMs,
    keyUsages: [],
    extendedUsages: ['clientAuth'],
  })
  return readCertificate(pem)
}

test('a certificate issued before a revocation is void and one issued after it is good, whatever the clocks said', async () => {
  await using server = await startTestApiServer()
  const { objects } = server.server
  const clock = simulatedClock(nowMs)
  const hub = createCluster(server.transport, { clock, log: silentLogger, userAgent: 'test' })
  const signal = AbortSignal.timeout(30_000)
  const isVoid = (cluster: string, certificate: Certificate, part: 'own' | 'parent' = 'own') =>
    isRevoked(objects, { ...certificate, cluster, part, backdateMs })
  await hub.resource(resources.namespaces).create(namespaceOf(revocationsKey.namespace), signal)
  const offsets = [-3_650 * dayMs, -dayMs, 0, dayMs, 4_015 * dayMs]
  for (const offMs of offsets) {
    const before = await issue(objects, bank, offMs)
    const virtual = await issue(objects, east, offMs)
    assert.equal(isVoid('bank', before), false)
    await revokeAgent(hub, { cluster: 'bank', nowMs: nowMs - offMs }, signal)
    assert.equal(isVoid('bank', before), true, `${offMs} ms`)
    assert.equal(isVoid('bank', virtual, 'parent'), true, `${offMs} ms`)
    assert.equal(isVoid('bank-east', virtual), false)
    const after = await issue(objects, bank, -offMs)
    assert.equal(isVoid('bank', after), false, `${offMs} ms`)
    assert.equal(isVoid('bank', await issue(objects, east, -offMs), 'parent'), false)
  }
  // Certificates of versions without generations are older than a counted revocation.
  const random = { ...(await issue(objects, bank, dayMs)), serialNumber: '4000aa' }
  assert.equal(isVoid('bank', random), true)
})

test('a revocation by a version that did not count uses the clock', async () => {
  await using server = await startTestApiServer()
  const { objects } = server.server
  const clock = simulatedClock(nowMs)
  const hub = createCluster(server.transport, { clock, log: silentLogger, userAgent: 'test' })
  const signal = AbortSignal.timeout(30_000)
  await hub.resource(resources.namespaces).create(namespaceOf(revocationsKey.namespace), signal)
  await revokeAgent(hub, { cluster: 'bank', nowMs: nowMs - dayMs }, signal)
  const data = { bank: new Date(nowMs).toISOString() }
  const patch = { ...revocationsKey, type: 'merge' as const, patch: { data } }
  await hub.resource(resources.configMaps).patch(patch, signal)
  const isVoid = (certificate: Certificate) =>
    isRevoked(objects, { ...certificate, cluster: 'bank', part: 'own', backdateMs })
  assert.equal(isVoid(await issue(objects, bank, -60_000)), true)
  assert.equal(isVoid(await issue(objects, bank, 60_000)), false)
})

function namespaceOf(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as const
}
