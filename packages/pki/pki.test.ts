import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import {
  createAuthority,
  createSigningRequest,
  decodePem,
  generateKeyPair,
  isIssuedBy,
  readCertificate,
  readClientCertificate,
  readSigningRequest,
  signCertificate,
  spkiHash,
  type Subject,
} from './mod.ts'

const startMs = Date.UTC(2026, 0, 1)
const dayMs = 86_400_000
const newAuthority = (days = 3650) =>
  createAuthority({
    subject: { commonName: 'test-ca' },
    notBeforeMs: startMs,
    notAfterMs: startMs + days * dayMs,
  })

test('a signed certificate carries the requested properties and verifies against its authority only', async () => {
  const authority = await newAuthority()
  const stranger = await newAuthority()
  const { publicKeyPem } = await generateKeyPair()
  const pem = await signCertificate(authority, {
    subject: { commonName: 'system:node:a', organizations: ['system:nodes', 'extra'] },
    publicKeyPem,
    notBeforeMs: startMs,
    notAfterMs: startMs + dayMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth', 'serverAuth'],
    dnsNames: ['a.example'],
    ipAddresses: ['10.0.0.1', 'fd00::1'],
  })
  const certificate = readCertificate(pem)
  assert.equal(certificate.commonName, 'system:node:a')
  assert.deepEqual(certificate.organizations, ['system:nodes', 'extra'])
  assert.deepEqual(certificate.dnsNames, ['a.example'])
  assert.deepEqual(certificate.ipAddresses[0], '10.0.0.1')
  assert.equal(certificate.ipAddresses.length, 2)
  assert.deepEqual(certificate.keyUsages, ['digitalSignature'])
  assert.deepEqual(certificate.extendedUsages, ['clientAuth', 'serverAuth'])
  assert.equal(certificate.notAfterMs, startMs + dayMs)
  assert.equal(certificate.issuerCommonName, 'test-ca')
  assert.equal(certificate.isAuthority, false)
  assert.equal(readCertificate(authority.certificatePem).isAuthority, true)
  assert.equal(isIssuedBy(pem, authority.certificatePem), true)
  assert.equal(isIssuedBy(pem, stranger.certificatePem), false)
  assert.deepEqual(readCertificate(new X509Certificate(pem).raw), certificate)
  assert.deepEqual(decodePem(`${authority.certificatePem}\n${pem}`), [
    authority.certificatePem,
    pem,
  ])
})

test('the short way to read a client agrees with the long one, whatever its names hold', async () => {
  const authority = await newAuthority()
  const { publicKeyPem } = await generateKeyPair()
  const subjects: Subject[] = [
    { commonName: 'system:karmada:agent:a', organizations: ['system:karmada:agents'] },
    { commonName: 'no organization' },
    { commonName: 'O=system:masters', organizations: ['a, O=system:masters', 'b+CN=c', 'q"d'] },
    {
      commonName: 'line\nO=system:masters',
      organizations: ['\u0000', 'ümläut', '中', '\\', 'b', 'a'],
    },
    { commonName: '__proto__', organizations: ['__proto__', 'constructor'] },
  ]
  const usages = [['clientAuth'], [], ['any', '1.2.3.4', 'serverAuth']]
  for (const [index, subject] of subjects.entries()) {
    const pem = await signCertificate(authority, {
      subject,
      publicKeyPem,
      notBeforeMs: startMs,
      notAfterMs: startMs + dayMs,
      keyUsages: ['digitalSignature'],
      extendedUsages: usages[index % usages.length] ?? [],
    })
    const { raw } = new X509Certificate(pem)
    const { commonName, organizations, extendedUsages, serialNumber, fingerprint } =
      readCertificate(raw)
    const dates = { notBeforeMs: startMs, notAfterMs: startMs + dayMs }
    const long = { commonName, organizations, ...dates, extendedUsages, serialNumber, fingerprint }
    assert.deepEqual(readClientCertificate(raw), long)
    assert.equal(readClientCertificate(raw).commonName, subject.commonName)
    assert.deepEqual(readClientCertificate(raw).organizations, subject.organizations ?? [])
  }
  assert.throws(() => readClientCertificate(Buffer.from('no certificate')), TypeError)
})

test('a certificate never outlives its authority', async () => {
  const authority = await newAuthority(1)
  const { publicKeyPem } = await generateKeyPair()
  const pem = await signCertificate(authority, {
    subject: { commonName: 'a' },
    publicKeyPem,
    notBeforeMs: startMs,
    notAfterMs: startMs + 10 * dayMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: [],
  })
  assert.equal(readCertificate(pem).notAfterMs, startMs + dayMs)
})

test('a signing request is read back; a forged or foreign text is refused', async () => {
  const keys = await generateKeyPair()
  const pem = createSigningRequest({
    subject: { commonName: 'system:node:a', organizations: ['system:nodes'] },
    privateKeyPem: keys.privateKeyPem,
    dnsNames: ['a'],
    ipAddresses: ['192.0.2.1'],
  })
  const request = await readSigningRequest(pem)
  assert.equal(request.commonName, 'system:node:a')
  assert.deepEqual(request.organizations, ['system:nodes'])
  assert.deepEqual(request.dnsNames, ['a'])
  assert.deepEqual(request.ipAddresses, ['192.0.2.1'])
  assert.equal(request.publicKeyPem, keys.publicKeyPem)

  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
  der[der.indexOf('system:node:a')] = 0x53
  const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
  await assert.rejects(readSigningRequest(forged), /signature does not match/)
  await assert.rejects(readSigningRequest('hello'), /no PEM block/)
})

for (const type of ['rsa', 'ed25519', 'ec'] as const) {
  test(`a signing request of a key of type ${type} names everything it is asked to`, async () => {
    const pair =
      type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : type === 'ec'
          ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
          : generateKeyPairSync('ed25519')
    const names = {
      dnsNames: ['a.example', '*.b.example'],
      ipAddresses: ['10.0.0.200', '2001:db8::1:0'],
      emails: ['a@example.com'],
      uris: ['spiffe://example/x'],
    }
    const pem = createSigningRequest({
      subject: { commonName: 'Zoë', organizations: ['one', 'two'] },
      privateKeyPem: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      ...names,
    })
    const { publicKeyPem: _key, ...read } = await readSigningRequest(pem)
    assert.deepEqual(read, { commonName: 'Zoë', organizations: ['one', 'two'], ...names })
  })
}

test('the pin of a CA is over its key, so it survives a renewed certificate', async () => {
  const authority = await newAuthority()
  const pin = spkiHash(authority.certificatePem)
  assert.match(pin, /^sha256:[0-9a-f]{64}$/)
  assert.notEqual(pin, spkiHash((await newAuthority()).certificatePem))
})
