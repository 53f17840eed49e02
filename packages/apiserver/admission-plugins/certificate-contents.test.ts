import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAuthority,
  createSigningRequest,
  generateKeyPair,
  signCertificate,
} from '@skerry/pki'
import { admissionRequest } from '../testing/admission-request.ts'
import { ObjectTable } from '../testing/object-table.ts'
import { pluginDeps, testStartMs } from '../testing/plugin-deps.ts'
import { createCertificateContents } from './certificate-contents.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const time = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')

/**
 * Returns the server's error for a signer that issues such a certificate, or an empty text if it is
 * accepted.
 */
async function answerTo(
  validity: { from: number; to: number; refresh: number },
  extra = '',
): Promise<string> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const subject = { commonName: 'pod' }
  const stub = createSigningRequest({ subject, privateKeyPem })
  const years = { notBeforeMs: testStartMs - hourMs, notAfterMs: testStartMs + 1_000 * hourMs }
  const authority = await createAuthority({ subject: { commonName: 'ca' }, ...years })
  const certificate = await signCertificate(authority, {
    subject,
    publicKeyPem,
    notBeforeMs: testStartMs + validity.from,
    notAfterMs: testStartMs + validity.to,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  const spec = {
    signerName: 'example.com/signer',
    maxExpirationSeconds: 7_200,
    stubPKCS10Request: stub.replaceAll(/-----[^-]+-----|\n/g, ''),
  }
  const status = {
    conditions: [{ type: 'Issued', status: 'True' }],
    certificateChain: certificate + extra,
    notBefore: time(testStartMs + validity.from),
    notAfter: time(testStartMs + validity.to),
    beginRefreshAt: time(testStartMs + validity.refresh),
  }
  const metadata = { name: 'one', namespace: 'shop' }
  const request = admissionRequest({
    operation: 'UPDATE',
    resource: {
      group: 'certificates.k8s.io',
      version: 'v1beta1',
      resource: 'podcertificaterequests',
    },
    subresource: 'status',
    object: { metadata, spec, status },
    oldObject: { metadata, spec, status: {} },
  })
  const plugin = createCertificateContents(pluginDeps(new ObjectTable()))
  const causes = (await plugin.check?.causesOf(request, [])) ?? []
  return causes.map(({ field, message }) => `${field}: ${message}`).join(', ')
}

/** All checks of the certificate come before the right to sign, which jane does not have. */
const passed =
  'spec.signerName: Forbidden: User "jane" is not permitted to "sign" for signer "example.com/signer"'

test('an issued certificate begins now, lives as long as requested, and is renewed within its life', async () => {
  const good = { from: -minuteMs, to: hourMs, refresh: 30 * minuteMs }
  const rows: [typeof good, string][] = [
    [good, passed],
    [
      { ...good, from: -5 * minuteMs },
      `status.notBefore: Invalid value: "${time(testStartMs - 5 * minuteMs)}": must be set to within 5 minutes of kube-apiserver's current time`,
    ],
    [
      { ...good, to: hourMs - 2 * minuteMs },
      'status.certificateChain: Invalid value: 3540000000000: leaf certificate lifetime must be >= 1 hour',
    ],
    [
      { ...good, to: 2 * hourMs },
      'status.certificateChain: Invalid value: 7260000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (7200)',
    ],
    [
      { ...good, refresh: 8 * minuteMs },
      `status.beginRefreshAt: Invalid value: "${time(testStartMs + 8 * minuteMs)}": must be at least 10 minutes after status.notBefore`,
    ],
    [
      { ...good, refresh: hourMs - 9 * minuteMs },
      `status.beginRefreshAt: Invalid value: "${time(testStartMs + hourMs - 9 * minuteMs)}": must be at least 10 minutes before status.notAfter`,
    ],
  ]
  for (const [validity, answer] of rows) assert.equal(await answerTo(validity), answer)
  const garbage = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  assert.match(
    await answerTo(good, garbage),
    /intermediate certificate does not parse as valid X.509$/,
  )
})
