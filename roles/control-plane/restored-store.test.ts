import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { exitCodes, type ExpectedError } from '@skerry/base'
import { restoreSqliteStore } from '@skerry/store'
import { startAndStop, startTestControlPlane } from '../../testing/scenes/test-control-plane.ts'
import { encryptionConfigOf } from './encryption-keys.ts'

const secrets = { group: '', resource: 'secrets' }

test('a restored store starts with the key that belongs to it, and without it says which file is missing', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-restored-'))
  try {
    const [old, next, backup] = ['old', 'next', 'backup.db'].map((name) => join(scratch, name))
    assert.ok(old && next && backup)
    {
      await using plane = await startTestControlPlane(old)
      await plane.objects.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'a', namespace: 'default' },
        data: { password: 'dHIwdWI0ZG9y' },
      })
      await plane.store.backup(backup)
    }
    assert.ok(!(await readFile(backup)).includes('dHIwdWI0ZG9y'), 'a backup shows no Secret')
    await cp(join(old, 'pki'), join(next, 'pki'), { recursive: true })
    const key = join(next, 'pki', 'encryption.yaml')
    await rm(key)
    await restoreSqliteStore(backup, join(next, 'store.db'))
    const refused = (what: string) => (error: ExpectedError) =>
      error.exitCode === exitCodes.dataDirectory && error.message.includes(what)
    await assert.rejects(startTestControlPlane(next), refused(`need ${key}, which is missing`))
    await assert.rejects(readFile(key), { code: 'ENOENT' }, 'no other key takes its place')
    const foreign = Buffer.alloc(32, 7).toString('base64')
    await writeFile(key, encryptionConfigOf([{ name: 'key1', secret: foreign }]))
    await assert.rejects(
      startTestControlPlane(next),
      refused(`are not encrypted with the key in ${key}`),
    )
    await rm(key)
    await startAndStop(next, { access: { encryption: { newKey: true } } })
    assert.ok((await readFile(key)).length > 0, 'giving up the Secrets makes another key')
    await assert.rejects(
      startTestControlPlane(next),
      refused(`are not encrypted with the key in ${key}`),
    )
    await cp(join(old, 'pki', 'encryption.yaml'), key)
    await using plane = await startTestControlPlane(next)
    const found = plane.objects.get(secrets, 'default', 'a')
    assert.deepEqual(found?.data, { password: 'dHIwdWI0ZG9y' })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
})
