import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSigningRequest } from './signing-request.ts'

/** A request that an agent of this program made. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIIBADCBqAIBADBGMR4wHAYDVQQKDBVzeXN0ZW06a2FybWFkYTphZ2VudHMxJDAi
BgNVBAMMG3N5c3RlbTprYXJtYWRhOmFnZW50OnNob3AtNzBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABChUDiNKfsYQ7r9X8+ihr91obGyxVFFmdIllkAEfoT2pGczB
0t1999/lINL6RmpmOd1a/w335Vc8izvzrC2keTigADAKBggqhkjOPQQDAgNHADBE
AiAYYdL7YX7RVu838O1JPfh63UmwrLSBSBPQDvChjKXtHgIgWHZ/J9QcH01tC1PU
VmnTG/jyG25AtObO5cZg8zLcC80=
-----END CERTIFICATE REQUEST-----
`

test('the fingerprint and the name of an agent’s request are read', async () => {
  assert.deepEqual(await readSigningRequest(btoa(pem)), {
    fingerprint: 'sha256:07de9c54aa05f5ea3472f402cc747ed3133d75fab27734799c97792c6fef5627',
    commonName: 'system:karmada:agent:shop-7',
  })
})

test('anything else is refused, and never read past its end', async () => {
  const wrap = (bytes: readonly number[]): string =>
    btoa(
      `-----BEGIN CERTIFICATE REQUEST-----\n${btoa(String.fromCharCode(...bytes))}\n-----END CERTIFICATE REQUEST-----`,
    )
  for (const bytes of [[], [0x30], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], [0x30, 2, 0x30, 0]]) {
    await assert.rejects(readSigningRequest(wrap(bytes)), RangeError)
  }
})
