import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '@skerry/base'
import { generateKeyPair } from '@skerry/pki'
import { ObjectTable } from '../testing/object-table.ts'
import { stillClock } from '../testing/still-clock.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { publishTokenTracking } from './legacy-token-use.ts'
import { createServiceAccountAuthenticator } from './service-account-authenticator.ts'
import { TokenError } from './token-authenticator.ts'
import { createTokenIssuer } from './token-issuer.ts'

const issuer = 'https://kubernetes.default.svc'
const never = new AbortController().signal
const clock = stillClock(Date.parse('2026-06-15T23:30:00Z'))
const lastUsed = 'kubernetes.io/legacy-token-last-used'
const invalidSince = 'kubernetes.io/legacy-token-invalid-since'

interface Use {
  labels?: Record<string, string>
  type?: string
  holds?: string
}

/** Creates a token bound to a secret of that type, which contains it or another one. */
async function useToken(options: Use): Promise<{ labels: unknown; refusal: unknown }> {
  const { labels = {}, type = 'kubernetes.io/service-account-token', holds } = options
  const { privateKeyPem: signingKeyPem, publicKeyPem } = await generateKeyPair()
  const token = await createTokenIssuer({ issuer, signingKeyPem }, clock).issue({
    namespace: 'shop',
    serviceAccount: { name: 'robot', uid: 'uid-robot' },
    secret: { name: 'key', uid: 'uid-key' },
    audiences: [issuer],
    lifetimeSeconds: 600,
  })
  const meta = (name: string) => ({ name, namespace: 'shop', uid: `uid-${name}` })
  const data = { token: Buffer.from(holds ?? token).toString('base64') }
  const objects = new ObjectTable()
    .put(wellKnown.serviceAccounts, { metadata: meta('robot') })
    .put(wellKnown.secrets, { metadata: { ...meta('key'), labels }, type, data })
  const authenticator = createServiceAccountAuthenticator({
    issuers: [issuer],
    keyPems: [publicKeyPem],
    objects,
    clock,
    log: silentLogger,
  })
  const refusal = await authenticator.authenticateToken(token, [issuer], never).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { labels: objects.get(wellKnown.secrets, 'shop', 'key')?.metadata.labels, refusal }
}

test('the day of the last use is recorded on the secret that holds the token', async () => {
  const today = { [lastUsed]: '2026-06-15' }
  const cases: { options: Use; labels: Record<string, string> }[] = [
    { options: {}, labels: today },
    {
      options: { labels: { mine: 'x', [lastUsed]: '2026-06-14' } },
      labels: { mine: 'x', ...today },
    },
    { options: { labels: { [lastUsed]: '2026-06-16' } }, labels: { [lastUsed]: '2026-06-16' } },
    { options: { type: 'Opaque' }, labels: {} },
    { options: { holds: 'another' }, labels: {} },
  ]
  for (const { options, labels } of cases) {
    const used = await useToken(options)
    assert.equal(used.refusal, undefined)
    assert.deepEqual(used.labels, labels, JSON.stringify(options))
  }
})

test('a token that is marked as invalid is refused, and its use is noted', async () => {
  const { labels, refusal } = await useToken({ labels: { [invalidSince]: '2026-06-01' } })
  assert.ok(refusal instanceof TokenError)
  assert.match(refusal.message, /secret shop\/key for service account shop\/robot has been marked/)
  assert.deepEqual(labels, { [invalidSince]: '2026-06-01', [lastUsed]: '2026-06-15' })
})

test('the date since which uses are recorded stays as first written, unless it is not a date', async () => {
  const key = ['kube-system', 'kube-apiserver-legacy-service-account-token-tracking'] as const
  const sinceAfter = async (since: string | undefined): Promise<unknown> => {
    const objects = new ObjectTable()
    const metadata = { namespace: key[0], name: key[1] }
    if (since !== undefined) objects.put(wellKnown.configMaps, { metadata, data: { since } })
    await publishTokenTracking(objects, clock)
    return objects.get(wellKnown.configMaps, ...key)?.['data']
  }
  assert.deepEqual(await sinceAfter(undefined), { since: '2026-06-15' })
  assert.deepEqual(await sinceAfter('2025-01-01'), { since: '2025-01-01' })
  assert.deepEqual(await sinceAfter('once'), { since: '2026-06-15' })
})
