import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, systemRandom } from '@skerry/base'
import { createHttpsTransport, fixedCredentials, readBody } from '@skerry/client'
import { certificateRenewalPath } from '@skerry/gateway'
import { generateKeyPair, readCertificate, signCertificate, type Subject } from '@skerry/pki'
import { unpackClients } from '@skerry/testing'
import { startTestHub, type TestHub } from '../../../testing/scenes/test-fleet.ts'
import { writeHubKubeconfig } from '../kubeconfig/hub-kubeconfig.ts'
import { currentCertificate } from './user-certificate.ts'
import { createUserToken } from '../../admin/user-tokens.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const hourMs = 3_600_000
const olga: Subject = { commonName: 'olga', organizations: ['north', 'crew'] }

interface Pair {
  readonly certificate: string
  readonly key: string
}

/** Returns a certificate for ten hours, of which this part is over. */
async function pairOf(
  { hub }: TestHub,
  { subject = olga, used = 0.8 }: { subject?: Subject; used?: number } = {},
): Promise<Pair> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const notBeforeMs = Date.now() - used * 10 * hourMs
  const certificate = await signCertificate(hub.plane.pki.authority, {
    subject,
    publicKeyPem,
    notBeforeMs,
    notAfterMs: notBeforeMs + 10 * hourMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  return { certificate, key: privateKeyPem }
}

async function writePair({ directory, url, caPem }: TestHub, { certificate, key }: Pair) {
  const inHub = (name: string): string => join(directory, name)
  await writeFile(inHub('olga.crt'), certificate)
  await writeFile(inHub('olga.key'), key, { mode: 0o600 })
  await writeFile(inHub('hub-ca.pem'), caPem)
  return {
    hub: url,
    caFile: inHub('hub-ca.pem'),
    certificateFile: inHub('olga.crt'),
    keyFile: inHub('olga.key'),
  }
}

async function post(
  { url, caPem }: TestHub,
  credentials: { certificate?: string; key?: string; bearerToken?: string },
  headers: Record<string, string> = {},
): Promise<string> {
  using transport = createHttpsTransport(
    {
      server: url,
      certificateAuthority: caPem,
      credentials: fixedCredentials(credentials),
    },
    { clock: systemClock },
  )
  const request = { method: 'POST', path: certificateRenewalPath, headers } as const
  const { status, body } = await transport.send(request, soon())
  const { message = '' } = JSON.parse((await readBody(body)).toString())
  return `${status} ${message}`
}

const renewing = { login: { renewUserCertificates: true } }

test('a certificate that is due renews itself, for the same user and key, and kubectl goes on', async () => {
  await using fleet = await startTestHub(renewing)
  const pair = await pairOf(fleet)
  const files = await writePair(fleet, pair)
  const outputFile = join(fleet.directory, 'kubeconfig')
  const program = [process.execPath, join(import.meta.dirname, '../../../cmd/skerry.ts')]
  const { hub, caFile, certificateFile, keyFile } = files
  await writeHubKubeconfig(
    {
      hub,
      caFile,
      outputFile,
      prefix: '',
      hostNames: false,
      tokenFile: undefined,
      clientCertificate: certificateFile,
      clientKey: keyFile,
      renewBy: program,
    },
    soon(),
  )
  const { kubectl } = await unpackClients()
  const env = { PATH: process.env['PATH'], HOME: fleet.directory, KUBECONFIG: outputFile }
  const who = await new Promise<string>((resolve) => {
    execFile(
      kubectl,
      ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'],
      { env },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    )
  })
  assert.equal(who, 'olga')
  const next = readCertificate(await readFile(certificateFile))
  const before = readCertificate(pair.certificate)
  assert.deepEqual([next.commonName, next.organizations], ['olga', ['north', 'crew']])
  assert.ok(next.notAfterMs > before.notAfterMs)
  assert.equal(next.notAfterMs - next.notBeforeMs, 10 * hourMs)
  assert.deepEqual(next.extendedUsages, ['clientAuth'])
  const keyOf = (pem: string | Buffer) =>
    createHash('sha256')
      .update(new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' }))
      .digest('hex')
  assert.equal(keyOf(await readFile(certificateFile)), keyOf(pair.certificate))
  assert.equal(await readFile(keyFile, 'utf8'), pair.key)
})

test('nobody gets a certificate except with their own, and no system user gets one', async () => {
  await using fleet = await startTestHub(renewing)
  const refused = (why: string): string => `403 Cannot renew certificate: ${why}`
  const own = await pairOf(fleet)
  const { token } = await createUserToken(
    fleet.admin,
    { name: 'tom', groups: [], ttlMs: undefined },
    Date.now(),
    soon(),
  )
  assert.match(await post(fleet, { bearerToken: token }), /^403 .*you presented none/)
  const over = await pairOf(fleet, { used: 1.1 })
  const beside = await post(fleet, { ...over, bearerToken: token })
  assert.equal(beside, refused('you presented none'))
  const masters = await pairOf(fleet, {
    subject: { commonName: 'boss', organizations: ['system:masters'] },
  })
  const asOlga = { 'impersonate-user': 'olga' }
  assert.equal(await post(fleet, masters, asOlga), refused('it names another user'))
  assert.equal(
    await post(fleet, masters),
    refused('"system:masters" must not begin with "system:"'),
  )
  const node = await pairOf(fleet, { subject: { commonName: 'system:node:n1' } })
  assert.match(await post(fleet, node), /^403 .*"system:node:n1" must not begin/)
  assert.match(await post(fleet, await pairOf(fleet, { used: 0.4 })), /^403 .*it is renewed from 2/)
  assert.match(await post(fleet, over), /^401 /)
  assert.match(await post(fleet, {}), /^403 /)
  assert.equal(await post(fleet, own), '201 ')
})

test('if the hub does not renew it, the certificate is used until it expires, and a warning says so', async () => {
  await using fleet = await startTestHub()
  const pair = await pairOf(fleet)
  const files = await writePair(fleet, pair)
  const told: string[] = []
  const deps = {
    clock: systemClock,
    random: systemRandom,
    tell: (text: string) => void told.push(text),
  }
  const found = await currentCertificate(files, deps, soon())
  assert.equal(found.certificate, pair.certificate)
  assert.match(
    told.join(),
    /Cannot renew certificate at .*: it answers 403; this one is good until 2/,
  )
  await writePair(fleet, await pairOf(fleet, { used: 1.1 }))
  await assert.rejects(currentCertificate(files, deps, soon()), /it ended at 2.*ask the operator/)
  await writePair(fleet, { ...pair, certificate: 'nothing' })
  await assert.rejects(currentCertificate(files, deps, soon()), /olga.crt: it is not PEM/)
})
