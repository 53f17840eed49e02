import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { packageCauses } from './package-checks.ts'

const encoding = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const
const { publicKey, privateKey } = generateKeyPairSync('ed25519', encoding)
const other = generateKeyPairSync('ec', { namedCurve: 'P-256', ...encoding }).publicKey
const digest = `sha256:${'0a'.repeat(32)}`

test('a package with its digest and a key is accepted, and an object without one', () => {
  assert.deepEqual(packageCauses({}), [])
  assert.deepEqual(packageCauses({ package: { digest, publicKey } }), [])
})

const refused: readonly [string, { digest: string; publicKey: string }, string][] = [
  ['no digest', { digest: '', publicKey }, 'spec.package.digest'],
  ['a digest in capitals', { digest: digest.toUpperCase(), publicKey }, 'spec.package.digest'],
  ['a path', { digest: 'sha256:../../x', publicKey }, 'spec.package.digest'],
  ['a second line', { digest: `${digest}\nx`, publicKey }, 'spec.package.digest'],
  ['no key', { digest, publicKey: '' }, 'spec.package.publicKey'],
  ['a key of another sort', { digest, publicKey: other }, 'spec.package.publicKey'],
  ['a key and more', { digest, publicKey: `${publicKey}x` }, 'spec.package.publicKey'],
  ['a private key', { digest, publicKey: privateKey }, 'spec.package.publicKey'],
]
for (const [what, asked, field] of refused) {
  test(`${what} is refused, and nothing of a key is repeated`, () => {
    const causes = packageCauses({ package: asked })
    assert.deepEqual(
      causes.map((cause) => cause.field),
      [field],
    )
    const [, secret = 'none'] = privateKey.split('\n')
    assert.ok(!JSON.stringify(causes).includes(secret))
  })
}
