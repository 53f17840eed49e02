import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthority, generateKeyPair, signCertificate, type Authority } from '@skerry/pki'
import { stillClock } from '../testing/still-clock.ts'
import { requestHeaderDefaults, withFrontProxies } from './request-header-authenticator.ts'
import { createX509Authenticator } from './x509-authenticator.ts'

const startMs = Date.UTC(2026, 5, 1)
const dates = { notBeforeMs: startMs, notAfterMs: startMs + 3_600_000 }
const never = new AbortController().signal
const asUser: [string, string][] = [
  ['X-Remote-User', 'jane'],
  ['X-Remote-Group', 'dev'],
  ['X-Remote-Group', 'a,b'],
  ['X-Remote-Extra-Scopes%2fall', 'read'],
  ['X-Remote-Uid', '7'],
]

async function newAuthenticator() {
  const clock = stillClock(startMs)
  const newAuthority = (commonName: string) =>
    createAuthority({ subject: { commonName }, ...dates })
  const clients = await newAuthority('ca')
  const proxies = await newAuthority('front-proxy-ca')
  const authenticator = withFrontProxies(
    createX509Authenticator(clock),
    {
      ...requestHeaderDefaults,
      proxyAuthorityPem: () => proxies.certificatePem,
      clientAuthorityPem: () => clients.certificatePem,
    },
    clock,
  )
  const ask = async (
    signer: Authority,
    commonName: string,
    fields: readonly [string, string][] = asUser,
  ) => {
    const { publicKeyPem } = await generateKeyPair()
    const pem = await signCertificate(signer, {
      subject: { commonName },
      publicKeyPem,
      ...dates,
      keyUsages: ['digitalSignature'],
      extendedUsages: ['clientAuth'],
    })
    const der = new Uint8Array(Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64'))
    const credentials = { headers: {}, fields: () => fields, clientCertificates: [der] }
    return (await authenticator.authenticate(credentials, never))?.user
  }
  return { ask, clients, proxies, clock, authenticator }
}

test('a front proxy names the user for whom it asks', async () => {
  const { ask, proxies } = await newAuthenticator()
  assert.deepEqual(await ask(proxies, 'front-proxy-client'), {
    name: 'jane',
    uid: '7',
    groups: ['dev', 'a,b'],
    extra: { 'scopes/all': ['read'] },
  })
})

test('a client of the cluster is itself, whatever its headers say', async () => {
  const { ask, clients } = await newAuthenticator()
  assert.equal((await ask(clients, 'front-proxy-client'))?.name, 'front-proxy-client')
})

test("a front proxy's certificate alone identifies nobody", async () => {
  const { ask, proxies, clock, authenticator } = await newAuthenticator()
  const isUnauthorized = { reason: 'Unauthorized' }
  await assert.rejects(ask(proxies, 'system:admin'), isUnauthorized)
  await assert.rejects(ask(proxies, 'front-proxy-client', []), isUnauthorized)
  clock.advance(2 * 3_600_000)
  await assert.rejects(ask(proxies, 'front-proxy-client'), isUnauthorized)
  const nobody = { headers: {}, fields: () => asUser, clientCertificates: [] }
  assert.equal(await authenticator.authenticate(nobody, never), undefined)
})
