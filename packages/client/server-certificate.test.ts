import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { startTestApiServer } from '@skerry/testing'
import { serverCertificateEnd } from './server-certificate.ts'

const signal = new AbortController().signal
const deps = { clock: systemClock }

test('the end of the certificate that a server shows is known if the certificate is trusted', async () => {
  await using api = await startTestApiServer()
  const { ca, cert, key } = api.credentials
  const config = {
    server: api.url,
    certificateAuthority: ca,
    credentials: () => Promise.resolve({ certificate: cert, key }),
  }
  const endMs = await serverCertificateEnd(config, deps, signal)
  assert.ok(endMs !== undefined && endMs > Date.now(), String(endMs))
  const { certificateAuthority: _, ...untrusting } = config
  await assert.rejects(serverCertificateEnd(untrusting, deps, signal), /certificate/)
  const unchecked = { ...untrusting, isTlsVerifySkipped: true }
  assert.equal(await serverCertificateEnd(unchecked, deps, signal), undefined)
})
