import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAuthority,
  createSigningRequest,
  generateKeyPair,
  readCertificate,
  signCertificate,
  type Authority,
} from '@skerry/pki'
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { createReEnrolment } from './re-enrolment-request.ts'
import { answerReEnrolment, type ReEnrolmentRules } from './re-enrolment.ts'

const dayMs = 86_400_000
const nowMs = Date.UTC(2026, 5, 1)
const own = { commonName: agentUserName('shop'), organizations: [agentsGroup] }

async function newAuthority(): Promise<Authority> {
  const subject = { commonName: 'hub' }
  return createAuthority({ subject, notBeforeMs: 0, notAfterMs: nowMs + 1_000 * dayMs })
}

async function identityOf(authority: Authority, subject = own, expiredMs = dayMs) {
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject,
    publicKeyPem,
    notBeforeMs: nowMs - expiredMs - 365 * dayMs,
    notAfterMs: nowMs - expiredMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  return { certificatePem, privateKeyPem }
}

async function requestFor(subject = own): Promise<string> {
  const { privateKeyPem } = await generateKeyPair()
  return createSigningRequest({ subject, privateKeyPem })
}

function rulesOf(authority: Authority, more: Partial<ReEnrolmentRules> = {}): ReEnrolmentRules {
  const times = { graceMs: 30 * dayMs, lifetimeMs: 365 * dayMs, backdateMs: 300_000 }
  const revoked = {
    isRevoked: () => false,
    wasRevokedByTime: () => false,
    serialPrefix: undefined,
  }
  return { authority, ...times, reckonedMs: nowMs, ...revoked, ...more }
}

test('an expired certificate within the grace gets the next one, for the key that was asked', async () => {
  const authority = await newAuthority()
  const asked = createReEnrolment('shop', await identityOf(authority), await requestFor())
  const pem = await answerReEnrolment('shop', asked, rulesOf(authority), nowMs)
  const { commonName, organizations, notAfterMs } = readCertificate(pem)
  assert.deepEqual([commonName, organizations], [own.commonName, own.organizations])
  assert.equal(notAfterMs, nowMs + 365 * dayMs)
})

test('a certificate that was issued while the hub was ahead, and has not begun, gets the next one', async () => {
  const authority = await newAuthority()
  const future = await identityOf(authority, own, -800 * dayMs)
  const asked = createReEnrolment('shop', future, await requestFor())
  const pem = await answerReEnrolment('shop', asked, rulesOf(authority), nowMs)
  assert.equal(readCertificate(pem).notBeforeMs, nowMs - 300_000)
})

test('a request without the old key, with another name, or too late is refused', async () => {
  const authority = await newAuthority()
  const identity = await identityOf(authority)
  const request = await requestFor()
  const asked = createReEnrolment('shop', identity, request)
  const foreign = await identityOf(await newAuthority())
  const bank = { ...own, commonName: agentUserName('bank') }
  const masters = { commonName: own.commonName, organizations: ['system:masters'] }
  const { privateKeyPem } = await generateKeyPair()
  const thief = { certificatePem: identity.certificatePem, privateKeyPem }
  const late = await identityOf(authority, own, 31 * dayMs)
  const future = await identityOf(authority, own, -800 * dayMs)
  const rules = rulesOf(authority)
  const table: [what: string, asked: object, rules: ReEnrolmentRules, why: RegExp][] = [
    [
      'a foreign authority',
      createReEnrolment('shop', foreign, request),
      rules,
      /this hub did not issue the certificate/,
    ],
    [
      'no old key',
      createReEnrolment('shop', thief, request),
      rules,
      /not by the certificate's key/,
    ],
    [
      'another request under the signature',
      { ...asked, request: await requestFor() },
      rules,
      /not by the certificate's key/,
    ],
    [
      'signed for another cluster',
      createReEnrolment('bank', identity, request),
      rules,
      /not by the certificate's key/,
    ],
    [
      "another agent's certificate",
      createReEnrolment('shop', await identityOf(authority, bank), request),
      rules,
      /does not belong to its agent/,
    ],
    [
      "a user's certificate",
      createReEnrolment('shop', await identityOf(authority, masters), request),
      rules,
      /does not belong to its agent/,
    ],
    [
      'a request for more rights',
      createReEnrolment('shop', identity, await requestFor(masters)),
      rules,
      /for another name/,
    ],
    ['too late', createReEnrolment('shop', late, request), rules, /expired at 2026-05-01/],
    ['no grace', asked, { ...rules, graceMs: 0 }, /takes such for 0 h more/],
    ['revoked', asked, { ...rules, isRevoked: () => true }, /was revoked/],
    [
      'revoked once, and not begun',
      createReEnrolment('shop', future, request),
      { ...rules, wasRevokedByTime: () => true },
      /not valid yet, and the agent was revoked once/,
    ],
    ['no certificate', { ...asked, certificate: 'hello' }, rules, /cannot be read/],
    ['no request', createReEnrolment('shop', identity, 'hello'), rules, /request cannot be read/],
    ['no signature', { ...asked, signature: '' }, rules, /not by the certificate's key/],
  ]
  for (const [what, sent, by, why] of table) {
    const answer = answerReEnrolment('shop', { ...asked, ...sent }, by, nowMs)
    await assert.rejects(answer, { reason: 'Forbidden', message: why }, what)
  }
})
