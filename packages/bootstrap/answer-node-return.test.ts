import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAuthority,
  createSigningRequest,
  generateKeyPair,
  readCertificate,
  signCertificate,
  spkiHash,
  type Authority,
} from '@skerry/pki'
import { answerNodeReturn, type NodeReturnRules } from './answer-node-return.ts'
import { createNodeReturn, nodeSubject } from './node-return.ts'

const dayMs = 86_400_000
const nowMs = Date.UTC(2027, 5, 1)
const own = nodeSubject('n1')

async function newAuthority(): Promise<Authority> {
  const subject = { commonName: 'site' }
  return createAuthority({ subject, notBeforeMs: 0, notAfterMs: nowMs + 3_000 * dayMs })
}

async function identityOf(authority: Authority, subject = own, endedMs = dayMs) {
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject,
    publicKeyPem,
    notBeforeMs: nowMs - endedMs - 365 * dayMs,
    notAfterMs: nowMs - endedMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  return { certificatePem, privateKeyPem }
}

async function requestFor(subject = own): Promise<string> {
  const { privateKeyPem } = await generateKeyPair()
  return createSigningRequest({ subject, privateKeyPem })
}

function rulesOf(authority: Authority, certificatePem: string): NodeReturnRules {
  const time = { now: () => nowMs, reckonedMs: () => nowMs }
  return { authority, graceMs: 30 * dayMs, time, keyOf: () => spkiHash(certificatePem) }
}

test('a node whose certificate has ended gets the next one by its key, for its own name alone', async () => {
  const authority = await newAuthority()
  const identity = await identityOf(authority)
  const asked = createNodeReturn('n1', identity, await requestFor())
  const pem = await answerNodeReturn('n1', asked, rulesOf(authority, identity.certificatePem))
  const { commonName, organizations, notAfterMs } = readCertificate(pem)
  assert.deepEqual([commonName, organizations], [own.commonName, own.organizations])
  assert.equal(notAfterMs, nowMs + 365 * dayMs)
})

test('a site whose clock is years ahead takes back a node whose certificate has not ended by the time that it knew', async () => {
  const authority = await newAuthority()
  const identity = await identityOf(authority, own, -100 * dayMs)
  const asked = createNodeReturn('n1', identity, await requestFor())
  const aheadMs = nowMs + 1_000 * dayMs
  const time = { now: () => aheadMs, reckonedMs: () => nowMs }
  const rules = { ...rulesOf(authority, identity.certificatePem), time }
  const { notBeforeMs, notAfterMs } = readCertificate(await answerNodeReturn('n1', asked, rules))
  assert.ok(notBeforeMs < nowMs && notAfterMs > aheadMs, 'the next one is good by both')
})

test('a stolen certificate, another key, and a node that was removed or replaced do not come back', async () => {
  const authority = await newAuthority()
  const identity = await identityOf(authority)
  const request = await requestFor()
  const asked = createNodeReturn('n1', identity, request)
  const rules = rulesOf(authority, identity.certificatePem)
  const other = await identityOf(authority)
  const foreign = await identityOf(await newAuthority())
  const masters = { commonName: own.commonName, organizations: ['system:masters'] }
  const late = await identityOf(authority, own, 31 * dayMs)
  const thief = { certificatePem: identity.certificatePem, privateKeyPem: other.privateKeyPem }
  const table: [what: string, asked: object, rules: object, why: RegExp][] = [
    ['another site', createNodeReturn('n1', foreign, request), {}, /did not issue/],
    [
      'a certificate without its key',
      createNodeReturn('n1', thief, request),
      {},
      /not by the cert/,
    ],
    ['another request', { ...asked, request: await requestFor() }, {}, /not by the certificate's/],
    ['signed for another node', createNodeReturn('n2', identity, request), {}, /not by the cert/],
    [
      "another node's certificate",
      createNodeReturn('n1', await identityOf(authority, nodeSubject('n2')), request),
      {},
      /does not belong to this node/,
    ],
    [
      "an administrator's certificate",
      createNodeReturn('n1', await identityOf(authority, masters), request),
      {},
      /does not belong to this node/,
    ],
    [
      'a request for more rights',
      createNodeReturn('n1', identity, await requestFor(masters)),
      {},
      /for another name/,
    ],
    ['a node that was removed', asked, { keyOf: () => undefined }, /no Node that names this key/],
    [
      'a machine whose name another one has now',
      asked,
      { keyOf: () => spkiHash(other.certificatePem) },
      /no Node that names this key/,
    ],
    [
      'too late',
      createNodeReturn('n1', late, request),
      { keyOf: () => spkiHash(late.certificatePem) },
      /ended at 2027-05-01T.* for 720 h more; join again/,
    ],
    ['no grace', asked, { graceMs: 0 }, /for 0 h more/],
    ['no certificate', { ...asked, certificate: 'hello' }, {}, /cannot be read/],
    ['no request', createNodeReturn('n1', identity, 'hello'), {}, /request cannot be read/],
    ['no signature', { ...asked, signature: '' }, {}, /not by the certificate's key/],
  ]
  for (const [what, sent, by, why] of table) {
    const answer = answerNodeReturn('n1', { ...asked, ...sent }, { ...rules, ...by })
    await assert.rejects(answer, { reason: 'Forbidden', message: why }, what)
  }
})
