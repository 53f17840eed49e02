import assert from 'node:assert/strict'
import { cp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { exitCodes, silentLogger, systemClock, type ExpectedError } from '@skerry/base'
import { openSqliteStore } from '@skerry/store'
import { startTestEtcd, whyNoEtcd, type TestEtcd } from '@skerry/testing'
import {
  scratchDirectory,
  startAndStop,
  startTestControlPlane,
  type TestControlPlaneOptions,
} from '../../testing/scenes/test-control-plane.ts'

const skip = await whyNoEtcd()

function openStore(path: string) {
  return openSqliteStore(path, {}, { clock: systemClock, log: silentLogger })
}

async function removeStore(directory: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) {
    await rm(join(directory, `store.db${end}`), { force: true })
  }
}

const refused =
  (what: RegExp) =>
  ({ exitCode, message }: ExpectedError): boolean => {
    assert.match(message, what)
    return exitCode === exitCodes.dataDirectory && !message.includes('\n')
  }

test('a whole store without any object, next to the keys of a cluster, is refused unless a new one is asked for', async () => {
  await using directory = await scratchDirectory()
  const { path } = directory
  await startAndStop(path)
  await removeStore(path)
  await (await openStore(join(path, 'store.db')))[Symbol.asyncDispose]()
  const what = /^Cannot start: .*store\.db is empty, and .*pki is of .*skerry restore.*--new-store/
  await assert.rejects(startTestControlPlane(path), refused(what))
  await startAndStop(path, { newStore: true })
  await startAndStop(path)
})

test('a store of another cluster than the keys is refused, even with --new-store', async () => {
  await using directory = await scratchDirectory()
  const [own, other] = [join(directory.path, 'own'), join(directory.path, 'other')]
  await startAndStop(own)
  await startAndStop(other)
  await removeStore(own)
  await cp(join(other, 'store.db'), join(own, 'store.db'))
  const what = /store\.db belongs to another cluster than .*pki; restore/
  await assert.rejects(startTestControlPlane(own), refused(what))
  await assert.rejects(startTestControlPlane(own, { newStore: true }), refused(what))
})

test('a store from before there were marks gets one, and a first start that was cut off goes on', async () => {
  await using directory = await scratchDirectory()
  const { path } = directory
  const key = '/owner'
  await startAndStop(path)
  for (const left of [undefined, 'beginning']) {
    let mark
    {
      await using store = await openStore(join(path, 'store.db'))
      mark = (await store.get(key)).entry?.value
      await store.write(left === undefined ? { key } : { key, value: Buffer.from(left) })
    }
    await startAndStop(path)
    await using store = await openStore(join(path, 'store.db'))
    assert.ok(mark)
    assert.deepEqual((await store.get(key)).entry?.value, mark)
  }
})

test('objects without any keys are refused before other keys are made, unless the old ones are given up', async () => {
  await using directory = await scratchDirectory()
  const { path } = directory
  await startAndStop(path)
  await rm(join(path, 'pki'), { recursive: true })
  const what = /keys are missing in .*pki; restore .* from a backup; .*--new-encryption-key/
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await assert.rejects(startTestControlPlane(path), refused(what))
    await assert.rejects(stat(join(path, 'pki')), { code: 'ENOENT' })
  }
  await startAndStop(path, { access: { encryption: { newKey: true } } })
  await startAndStop(path)
})

for (const [role, more] of Object.entries({
  site: {},
  hub: { replicas: { keyFile: undefined } },
})) {
  test(
    `a ${role} whose etcd is empty next to its keys is refused unless a new one is asked for`,
    { skip },
    async () => {
      await using directory = await scratchDirectory()
      const { path } = directory
      {
        await using etcd = await startTestEtcd()
        await startAndStop(path, { ...more, ...on(etcd) })
        await startAndStop(path, { ...more, ...on(etcd) })
      }
      await using empty = await startTestEtcd()
      const what = /--etcd-prefix is empty, and .*pki is of .*snapshot.*--new-store/
      await assert.rejects(startTestControlPlane(path, { ...more, ...on(empty) }), refused(what))
      await startAndStop(path, { ...more, ...on(empty), newStore: true })
      await startAndStop(path, { ...more, ...on(empty) })
    },
  )
}

function on(etcd: TestEtcd): TestControlPlaneOptions {
  return { etcd: { etcdServers: [etcd.endpoint], etcdPrefix: '/skerry/test' } }
}
