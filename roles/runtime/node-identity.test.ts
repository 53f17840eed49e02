import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { openNodeIdentity } from './node-identity.ts'

const context = {
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  metrics: createMetrics(),
  signal: new AbortController().signal,
}

/** Makes the files of a node that has joined a cluster which cannot be reached now. */
async function joinedNode(pki: string): Promise<void> {
  const dates = { notBeforeMs: 0, notAfterMs: systemClock.now() + 365 * 86_400_000 }
  const authority = await createAuthority({ subject: { commonName: 'ca' }, ...dates })
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject: { commonName: 'kubelet-client' },
    publicKeyPem,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
    ...dates,
  })
  await mkdir(pki, { recursive: true })
  await writeFile(join(pki, 'ca.crt'), authority.certificatePem)
  await writeFile(join(pki, 'kubelet-client.crt'), certificatePem)
  await writeFile(join(pki, 'kubelet-client.key'), privateKeyPem)
  await writeFile(join(pki, 'server'), 'https://127.0.0.1:9')
}

test('a node that has joined starts again without the file of its token, and one that has not does not', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-node-identity-'))
  try {
    const tokenFile = join(dataDir, 'join-token')
    const servers = ['https://127.0.0.1:9']
    const options = { dataDir, nodeName: 'n', servers, tokenFile, caHash: undefined }
    await assert.rejects(openNodeIdentity(options, context), /Cannot read the token file/)
    await joinedNode(join(dataDir, 'pki'))
    assert.ok(await openNodeIdentity(options, context))
  } finally {
    await rm(dataDir, { recursive: true })
  }
})

test('a node that left a control plane does not go back to it by an option that stayed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-node-identity-'))
  try {
    await joinedNode(join(dataDir, 'pki'))
    const [left, other] = ['https://127.0.0.1:10', 'https://127.0.0.1:11']
    await writeFile(join(dataDir, 'pki', 'left-servers'), left)
    const options = { dataDir, nodeName: 'n', tokenFile: undefined, caHash: undefined }
    const serversOf = async (...servers: string[]): Promise<string> => {
      const { info } = await openNodeIdentity({ ...options, servers }, context)
      return info.server
    }
    assert.equal(await serversOf(left), 'https://127.0.0.1:9')
    assert.equal(await serversOf(left, other), other)
  } finally {
    await rm(dataDir, { recursive: true })
  }
})
