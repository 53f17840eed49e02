import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '@skerry/api'
import { revokedSince } from './agent-revocation.ts'

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

test('a request for a certificate is void when its asker, or the parent of it, is revoked after it', () => {
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
    assert.equal(revokedSince(csr, new Map(Object.entries(revoked))), want, what)
  }
})
