import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { readEncryptionConfig } from '@skerry/apiserver'
import { openSqliteStore } from '@skerry/store'
import { openAccessFiles } from '../../control-plane/access-files.ts'
import { encryptionConfigOf } from '../../control-plane/encryption-keys.ts'
import { nextName } from './rotate-encryption.ts'

const context = {
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  metrics: createMetrics(),
  signal: new AbortController().signal,
}

test('a first start makes a key that only its owner can read, and the next start uses it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-keys-'))
  try {
    const path = join(directory, 'pki', 'encryption.yaml')
    const open = async (): Promise<string> => {
      const metrics = createMetrics()
      await using store = await openSqliteStore(join(directory, 'store.db'), {}, context)
      await using _files = await openAccessFiles(directory, {}, { ...context, metrics }, store)
      return readFile(path, 'utf8')
    }
    const first = await open()
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal(await open(), first)
    const plan = await readEncryptionConfig(first, { clock: systemClock, log: silentLogger })
    assert.equal(plan.chainFor('core/configmaps'), undefined)
    const sealed = plan
      .chainFor('core/secrets')
      ?.seal(Buffer.from('{}'), '/registry/core/secrets/a')
    assert.match(Buffer.from(sealed ?? []).toString('latin1'), /^k8s:enc:aesgcm:v1:key1:/)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('each new key has a name that no earlier key had', () => {
  const secret = Buffer.alloc(32).toString('base64')
  assert.equal(nextName([]), 'key1')
  assert.equal(
    nextName([
      { name: 'key2', secret },
      { name: 'key11', secret },
    ]),
    'key12',
  )
  assert.match(encryptionConfigOf([{ name: 'key2', secret }]), /"identity": \{\}/)
})

test('flags that contradict each other, and a missing file, are reported', async () => {
  const refused: readonly [Parameters<typeof openAccessFiles>[1], RegExp][] = [
    [{ oidc: { issuerUrl: 'https://a' } }, /needs --oidc-client-id/],
    [{ oidc: { issuerUrl: 'https://a' }, authenticationConfig: 'x' }, /exclude each other/],
    [{ audit: { policyFile: '/nowhere/policy' } }, /Cannot read \/nowhere\/policy/],
  ]
  const directory = await mkdtemp(join(tmpdir(), 'skerry-flags-'))
  await using store = await openSqliteStore(join(directory, 'store.db'), {}, context)
  for (const [flags, message] of refused) {
    await assert.rejects(openAccessFiles(directory, flags, context, store), (error: Error) =>
      message.test(error.message),
    )
  }
  await rm(directory, { recursive: true, force: true })
})
