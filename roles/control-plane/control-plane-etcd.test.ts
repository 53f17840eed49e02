import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  exitCodes,
  linkedSignal,
  silentLogger,
  systemClock,
  systemRandom,
  type Clock,
  type ExpectedError,
} from '@skerry/base'
import { writeCertificateAndKey } from '@skerry/bootstrap'
import { createCluster, resources } from '@skerry/client'
import { createAuthority, readCertificate } from '@skerry/pki'
import { administrator, startTestEtcd, whyNoEtcd, type TestEtcd } from '@skerry/testing'
import {
  scratchDirectory,
  startTestControlPlane,
  type TestControlPlaneOptions,
} from '../../testing/scenes/test-control-plane.ts'
import type { ControlPlane } from './control-plane.ts'
import { etcdOptionsOf, type EtcdFlags } from './etcd-options.ts'

const skip = await whyNoEtcd()
const nowhere = new AbortController().signal
const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

function start(
  directory: string,
  { endpoint }: TestEtcd,
  options: TestControlPlaneOptions = {},
): Promise<ControlPlane> {
  const etcd = { etcdServers: [endpoint], etcdPrefix: '/skerry/site' }
  return startTestControlPlane(directory, { ...options, etcd })
}

const namespaces = { group: '', resource: 'namespaces' }
const named = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

test(
  'a control plane on etcd finds its state again, and is the only one there',
  { skip },
  async () => {
    await using etcd = await startTestEtcd()
    await using directory = await scratchDirectory()
    const own = join(directory.path, 'own')
    {
      await using plane = await start(own, etcd)
      await plane.objects.create(namespaces, named('kept'))
    }
    await using again = await start(own, etcd)
    assert.ok(again.objects.get(namespaces, '', 'kept'))
    await assert.rejects(start(join(directory.path, 'other'), etcd), (error: ExpectedError) => {
      return error.exitCode === exitCodes.dataDirectory && /another site/.test(error.message)
    })
  },
)

test(
  'a replica whose authority was made while the clock was ahead starts again and again',
  { skip },
  async () => {
    await using etcd = await startTestEtcd()
    await using directory = await scratchDirectory()
    const pki = join(directory.path, 'pki')
    const aheadMs = Date.now() + 2 * 365 * 86_400_000
    await mkdir(pki, { recursive: true })
    // In earlier versions, an authority's validity began when it was created.
    for (const name of ['ca', 'front-proxy-ca']) {
      await writeCertificateAndKey(
        { certificatePath: join(pki, `${name}.crt`), keyPath: join(pki, `${name}.key`) },
        await createAuthority({
          subject: { commonName: name },
          notBeforeMs: aheadMs - 60_000,
          notAfterMs: aheadMs + 3650 * 86_400_000,
        }),
      )
    }
    const replicas = { keyFile: undefined }
    const clock: Clock = { ...systemClock, now: () => aheadMs }
    const authorityAt = async (when?: Clock): Promise<string> => {
      await using plane = await start(directory.path, etcd, {
        replicas,
        // The first time, its keys are older than its store.
        ...(when ? { clock: when, newStore: true } : {}),
      })
      return plane.pki.authority.certificatePem
    }
    const shared = await authorityAt(clock)
    const redated = await authorityAt()
    assert.notEqual(redated, shared)
    assert.ok(readCertificate(redated).notBeforeMs <= Date.now())
    assert.equal(await authorityAt(), redated)
  },
)

test('etcd may be away: the control plane serves again when it returns', { skip }, async () => {
  await using etcd = await startTestEtcd()
  await using directory = await scratchDirectory()
  await using plane = await start(join(directory.path, 'own'), etcd)
  const stop = linkedSignal(nowhere)
  const upkeep = plane.upkeep(stop.signal)
  const cluster = createCluster(plane.server.transport(administrator), {
    ...deps,
    userAgent: 'test',
  })
  const client = cluster.resource(resources.namespaces)
  await client.create(named('before'), soon())
  const watched = (async () => {
    const seen: string[] = []
    const { metadata } = await client.list({}, soon())
    const { resourceVersion = '' } = metadata
    begun.resolve()
    for await (const event of client.watch({ resourceVersion }, soon())) {
      if (event.type === 'ADDED') seen.push(event.object.metadata.name ?? '')
      if (seen.includes('after')) return seen
    }
    return seen
  })()
  await begun.promise
  await etcd.kill()
  // Reads from the cache need no etcd; consistent reads wait for it.
  const cached = await client.list({ resourceVersion: '0' }, soon())
  assert.ok(cached.items.some(({ metadata }) => metadata.name === 'before'))
  const reading = client.get({ name: 'before' }, soon())
  await etcd.start()
  assert.equal((await reading).metadata.name, 'before')
  await client.create(named('after'), soon())
  assert.deepEqual(await watched, ['after'])
  stop.abort(new Error('the test is over'))
  await upkeep
})

const begun = Promise.withResolvers<void>()

const wrong: readonly (readonly [what: string, flags: EtcdFlags, text: RegExp])[] = [
  ['a server that is not a URL', { etcdServers: ['10.0.0.5:2379'] }, /is not a URL like/],
  ['a prefix that is not a path', { etcdPrefix: 'hub' }, /is not a path like/],
  ['a certificate without its key', { etcdCertfile: 'a.crt' }, /belong together/],
  ['a file that is not there', { etcdCafile: '/none/ca.crt' }, /Cannot read \/none\/ca.crt/],
]

for (const [what, flags, text] of wrong) {
  test(`${what} is refused before anything starts`, async () => {
    await assert.rejects(etcdOptionsOf({ etcdServers: ['https://a:2379'], ...flags }), text)
  })
}
