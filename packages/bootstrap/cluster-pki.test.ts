import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, type Clock } from '@skerry/base'
import { isIssuedBy, readCertificate } from '@skerry/pki'
import { ensureClusterPki, renewAtMs, writeFileDurably } from './mod.ts'

const startMs = Date.UTC(2026, 0, 1)
const dayMs = 86_400_000
const at = (nowMs: number): Clock => ({ ...systemClock, now: () => nowMs })

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-pki-'))
  try {
    await work(join(directory, 'pki'))
  } finally {
    await rm(directory, { recursive: true })
  }
}

const options = (directory: string, dnsNames = ['localhost']) => ({
  directory,
  authorityName: 'site-a',
  dnsNames,
  ipAddresses: ['127.0.0.1', '::1'],
})

test('a first start makes every key, readable by its owner alone; a second start finds them', async () => {
  await inDirectory(async (directory) => {
    const first = await ensureClusterPki(options(directory), at(startMs))
    const names = (await readdir(directory)).sort()
    assert.deepEqual(names, [
      'admin.crt',
      'admin.key',
      'apiserver-kubelet-client.crt',
      'apiserver-kubelet-client.key',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
      'front-proxy-ca.crt',
      'front-proxy-ca.key',
      'front-proxy-client.crt',
      'front-proxy-client.key',
      'sa.key',
      'sa.pub',
    ])
    for (const name of names.filter((text) => text.endsWith('.key'))) {
      assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600, name)
    }
    const admin = readCertificate(first.admin.certificatePem)
    assert.deepEqual(admin.organizations, ['system:masters'])
    assert.ok(isIssuedBy(first.serving.certificatePem, first.authority.certificatePem))
    assert.deepEqual(await ensureClusterPki(options(directory), at(startMs + dayMs)), first)
  })
})

test('a certificate is issued again when it grows old or lacks a name, its authority never', async () => {
  await inDirectory(async (directory) => {
    const first = await ensureClusterPki(options(directory), at(startMs))
    const renamed = await ensureClusterPki(options(directory, ['edge.example']), at(startMs))
    assert.equal(renamed.admin.certificatePem, first.admin.certificatePem)
    assert.ok(readCertificate(renamed.serving.certificatePem).dnsNames.includes('edge.example'))
    const aged = await ensureClusterPki(options(directory), at(startMs + 300 * dayMs))
    assert.notEqual(aged.admin.certificatePem, first.admin.certificatePem)
    assert.deepEqual(aged.authority, first.authority)
    assert.equal(aged.serviceAccountKeyPem, first.serviceAccountKeyPem)
  })
})

test('an authority that lost its key or got another one is refused by name', async () => {
  await inDirectory(async (directory) => {
    await ensureClusterPki(options(directory), at(startMs))
    const key = join(directory, 'ca.key')
    await writeFile(key, await readFile(join(directory, 'admin.key')))
    await assert.rejects(ensureClusterPki(options(directory), at(startMs)), {
      message: new RegExp(`^Cannot use certificate .*ca\\.crt: .*ca\\.key is not its key`),
      exitCode: 6,
    })
    await rm(key)
    await assert.rejects(ensureClusterPki(options(directory), at(startMs)), /ca\.key is missing/)
  })
})

test('a damaged key of service accounts is refused by name, and left as it is', async () => {
  await inDirectory(async (directory) => {
    await ensureClusterPki(options(directory), at(startMs))
    const key = join(directory, 'sa.key')
    for (const text of ['garbage', '']) {
      await writeFile(key, text)
      await assert.rejects(ensureClusterPki(options(directory), at(startMs)), {
        message: /^Cannot use key .*sa\.key: it is damaged; restore it/,
        exitCode: 6,
      })
      assert.equal(await readFile(key, 'utf8'), text)
    }
  })
})

test('a key of service accounts that can sign no tokens is refused by name, and left as it is', async () => {
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const keys = [
    generateKeyPairSync('ed25519').privateKey,
    generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
    generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey,
  ]
  await inDirectory(async (directory) => {
    await ensureClusterPki(options(directory), at(startMs))
    const path = join(directory, 'sa.key')
    for (const key of keys) {
      const text = key.export(pem).toString()
      await writeFile(path, text)
      await assert.rejects(ensureClusterPki(options(directory), at(startMs)), {
        message:
          /^Cannot use key .*sa\.key: it is not an RSA key of at least 2048 bits or .*; restore it/,
        exitCode: 6,
      })
      assert.equal(await readFile(path, 'utf8'), text)
    }
    const good = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export(pem)
    await writeFile(path, good)
    const { serviceAccountKeyPem } = await ensureClusterPki(options(directory), at(startMs))
    assert.equal(serviceAccountKeyPem, good)
  })
})

test('a file is replaced whole and leaves no other file behind', async () => {
  await inDirectory(async (directory) => {
    const path = join(directory, 'token')
    await writeFileDurably(path, 'one', 0o600)
    await writeFileDurably(path, 'two', 0o600)
    assert.equal(await readFile(path, 'utf8'), 'two')
    assert.deepEqual(await readdir(directory), ['token'])
  })
})

test('renewal falls between 70 and 90 percent of a life', () => {
  const period = { notBeforeMs: 1000, notAfterMs: 2000 }
  assert.equal(renewAtMs(period, 0), 1700)
  assert.equal(renewAtMs(period, 1), 1900)
})
