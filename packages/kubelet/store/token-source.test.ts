import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { silentLogger, simulatedClock } from '@skerry/base'
import { createCluster, type Transport } from '@skerry/client'
import { createAuthority, generateKeyPair, signCertificate, standInToken } from '@skerry/pki'
import { ObjectDisk } from './object-disk.ts'
import { TokenSource } from './token-source.ts'

const yearMs = 365 * 86_400_000

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'web', uid: '1' },
  spec: { containers: [] },
}

test('a token from a clock that was two years ahead is replaced when the clock is right again', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-tokens-'))
  context.after(() => rm(directory, { recursive: true }))
  const clock = simulatedClock()
  let issued = 0
  const transport: Transport = {
    async send() {
      issued += 1
      const status = {
        token: `token-${issued}`,
        expirationTimestamp: new Date(clock.now() + 3_600_000).toISOString(),
      }
      const answer = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', status }
      const bytes = Buffer.from(JSON.stringify(answer))
      const body = (async function* () {
        yield bytes
      })()
      return { status: 201, headers: { 'content-type': 'application/json' }, body }
    },
  }
  const log = silentLogger
  const cluster = createCluster(transport, { clock, log, userAgent: 'test' })
  const disk = new ObjectDisk(directory, log)
  const tokens = new TokenSource({ cluster, clock, log, disk })
  const signal = new AbortController().signal
  const next = async (): Promise<string> => {
    return (await tokens.token({ pod, audience: '', expirationSeconds: 3_600 }, signal)).token
  }
  clock.jump(2 * yearMs)
  assert.deepEqual([await next(), await next()], ['token-1', 'token-1'])
  clock.jump(-2 * yearMs)
  assert.deepEqual([await next(), await next()], ['token-2', 'token-2'])
  await disk.flush()
})

test('for weeks without the control plane a pod has tokens that have not ended, and then those of the control plane again', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-tokens-'))
  context.after(() => rm(directory, { recursive: true }))
  const clock = simulatedClock()
  clock.jump(Date.UTC(2026, 5, 1))
  const site = { isAway: false }
  const transport: Transport = {
    async send() {
      if (site.isAway) throw new Error('connect ECONNREFUSED')
      const issuedAt = Math.floor(clock.now() / 1_000)
      const expirationTimestamp = new Date((issuedAt + 600) * 1_000).toISOString()
      const status = { token: tokenOfSite(issuedAt), expirationTimestamp }
      const answer = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', status }
      const body = (async function* () {
        yield Buffer.from(JSON.stringify(answer))
      })()
      return { status: 201, headers: { 'content-type': 'application/json' }, body }
    },
  }
  const log = silentLogger
  const cluster = createCluster(transport, { clock, log, userAgent: 'test' })
  const signer = await nodeSigner(clock.now())
  const standIn = (token: string) => standInToken(token, signer, clock.now())
  const disk = new ObjectDisk(directory, log)
  const open = async (): Promise<TokenSource> => {
    const source = new TokenSource({ cluster, clock, log, disk, standIn })
    await source.load()
    return source
  }
  const signal = new AbortController().signal
  const claims = async (source: TokenSource) => {
    const { token } = await source.token({ pod, audience: 'vault', expirationSeconds: 600 }, signal)
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  }
  let tokens = await open()
  const first = await claims(tokens)
  assert.equal(first.iss, siteIssuer)
  site.isAway = true
  clock.jump(300_000)
  assert.deepEqual(await claims(tokens), first, 'a good token stays')
  for (let hour = 0; hour < 24 * 21; hour += 1) {
    clock.jump(3_600_000)
    const { iss, exp, aud, sub } = await claims(tokens)
    assert.ok(exp * 1_000 > clock.now(), `in hour ${hour}`)
    assert.deepEqual([iss, aud, sub], ['urn:skerry:node:n1', ['vault'], first.sub])
    // After a reboot it begins again with what is on the disk.
    await disk.flush()
    if (hour === 100) tokens = await open()
  }
  site.isAway = false
  assert.equal((await claims(tokens)).iss, siteIssuer)
  await disk.flush()
})

const siteIssuer = 'https://kubernetes.default.svc.cluster.local'

function tokenOfSite(issuedAt: number): string {
  const bound = {
    namespace: 'shop',
    serviceaccount: { name: 'default', uid: '2' },
    pod: { name: 'web', uid: '1' },
    node: { name: 'n1', uid: '3' },
  }
  const payload = {
    iss: siteIssuer,
    sub: 'system:serviceaccount:shop:default',
    aud: ['vault'],
    iat: issuedAt,
    exp: issuedAt + 600,
    'kubernetes.io': bound,
  }
  const parts = [{ alg: 'ES256' }, payload].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return [...parts, 'signature'].join('.')
}

async function nodeSigner(nowMs: number): Promise<Parameters<typeof standInToken>[1]> {
  const notAfterMs = nowMs + yearMs
  const dates = { notBeforeMs: nowMs, notAfterMs }
  const authority = await createAuthority({ subject: { commonName: 'test-ca' }, ...dates })
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject: { commonName: 'system:node:n1', organizations: ['system:nodes'] },
    publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  return { nodeName: 'n1', certificatePem, privateKeyPem }
}
