import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { linkedSignal, silentLogger, systemClock, type Logger } from '@skerry/base'
import { resources } from '@skerry/client'
import { openEtcdStore } from '@skerry/store'
import { startTestEtcd, until, whyNoEtcd } from '@skerry/testing'
import { rotateEncryption } from '../../client/site/rotate-encryption.ts'
import { startTestMaster, type TestMaster } from '../../../testing/scenes/test-masters.ts'

const skip = await whyNoEtcd()
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = 'default'
const keysOf = ({ dataDir }: TestMaster) => join(dataDir, 'pki', 'encryption.yaml')

function secretsOf({ cluster }: TestMaster) {
  return cluster.resource(resources.secrets)
}

test(
  'the key of several masters is rotated while they write, and each reads everything afterwards',
  { skip },
  async () => {
    await using etcd = await startTestEtcd()
    await using first = await startTestMaster({ etcd, advertiseAddress: '192.0.2.1' })
    await using second = await startTestMaster({
      etcd,
      beside: first,
      advertiseAddress: '192.0.2.2',
    })
    const masters = [first, second]
    using stop = linkedSignal(new AbortController().signal)
    const written = new Map<string, string>()
    const faults: unknown[] = []
    const write = async (master: TestMaster, at: number): Promise<void> => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const [name, text] = [`s-${at}-${n % 20}`, `${at}-${n}`]
        const secret = {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name, namespace },
          stringData: { text },
        } as const
        try {
          const [known, client] = [written.has(name), secretsOf(master)]
          if (known) {
            const patch = { stringData: { text } }
            await client.patch({ namespace, name, type: 'merge', patch }, soon())
          } else await client.create(secret, soon())
          written.set(name, text)
        } catch (error) {
          faults.push(error)
        }
      }
    }
    const writing = Promise.all(masters.map(write))
    await until(() => written.size >= 20)
    const steps: string[] = []
    const servers = async () => new Map(masters.map(({ url, cluster }) => [url, cluster]))
    const onStep = (text: string): void => void steps.push(text)
    const { keyName } = await rotateEncryption(second.dataDir, onStep, soon(), servers)
    stop.abort(new Error('The test is over'))
    await writing
    assert.deepEqual(faults, [])
    assert.equal(keyName, 'key2')
    assert.match(steps.join(), /^each master can read key2,key2 writes from now on,\d+ secrets/)
    for (const master of masters) {
      for (const [name, text] of written) {
        const { data } = await secretsOf(master).get({ namespace, name }, soon())
        assert.equal(Buffer.from(data?.['text'] ?? '', 'base64').toString(), text)
      }
      await until(async () => !(await readFile(keysOf(master), 'utf8')).includes('key1'))
    }
    const endpoints = [etcd.endpoint]
    const deps = { clock: systemClock, log: silentLogger }
    await using store = await openEtcdStore({ endpoints, prefix: '/skerry/site' }, deps, soon())
    const { entries } = await store.list({ prefix: '/registry/core/secrets/' })
    assert.ok(entries.length >= written.size)
    for (const { key, value } of entries) {
      assert.match(Buffer.from(value).toString('latin1'), /^k8s:enc:aesgcm:v1:key2:/, key)
    }
  },
)

test('keys that nobody could read are not shared', { skip }, async () => {
  const messages: string[] = []
  const log: Logger = {
    ...silentLogger,
    info: (message) => void messages.push(message),
    child: () => log,
  }
  await using etcd = await startTestEtcd()
  await using first = await startTestMaster({ etcd, advertiseAddress: '192.0.2.1', log })
  await using second = await startTestMaster({ etcd, beside: first, advertiseAddress: '192.0.2.2' })
  const before = await readFile(keysOf(second), 'utf8')
  await writeFile(keysOf(first), 'no keys')
  await until(() => messages.some((text) => text.startsWith('Shared keys of encryption not')))
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace } } as const
  await secretsOf(first).create(secret, soon())
  assert.ok(await secretsOf(second).get({ namespace, name: 'a' }, soon()))
  assert.equal(await readFile(keysOf(second), 'utf8'), before)
})
