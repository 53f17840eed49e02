import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { test } from 'node:test'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { until } from '@skerry/testing'
import type { IncomingMessage } from 'node:http'
import { runSite } from './site.ts'

/** A site in this process that serves an etcd on a socket. */
async function startSite(dataDir: string, socket: string): Promise<AsyncDisposable> {
  const stop = linkedSignal(new AbortController().signal)
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const certificates = { certFile: undefined, keyFile: undefined, trustedCaFile: undefined }
  const running = runSite(
    {
      dataDir,
      name: 'shop',
      listening: { bindAddress: '127.0.0.1', port: 0 },
      network: {
        clusterCidr: '10.42.0.0/16',
        serviceCidr: '10.43.0.0/16',
        clusterDomain: 'cluster.local',
      },
      control: { scheduler: { isDisabled: true }, controllers: { isDisabled: true } },
      servedEtcd: {
        dataDir: join(dataDir, 'served-etcd'),
        name: 'default',
        listenUrls: [`unix://${socket}`],
        advertiseUrls: undefined,
        certificates: { ...certificates, allowedNames: [] },
        limits: {},
        keepMs: undefined,
      },
    },
    { ...deps, metrics: createMetrics(), signal: stop.signal },
  ).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  const ended = running.then((): never => assert.fail('the site ended'))
  const answers = (): Promise<unknown> => ask(socket, '/v3/maintenance/status', {})
  await Promise.race([until(() => answers().catch(() => undefined)), ended])
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await running
    },
  }
}

/** Asks by etcd's JSON over HTTP. */
async function ask(socketPath: string, path: string, body: object): Promise<unknown> {
  const sent = request({ socketPath, path, method: 'POST' })
  sent.end(JSON.stringify(body))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return JSON.parse(await text(answer))
}

const base64 = (plain: string): string => Buffer.from(plain).toString('base64')

test('a site serves an etcd with a store of its own, which is there after a restart', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-served-'))
  await using _removed = {
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
  const [dataDir, socket] = [join(directory, 'site'), join(directory, 'etcd.sock')]
  const put = { key: base64('greeting'), value: base64('hello') }
  {
    await using _site = await startSite(dataDir, socket)
    await ask(socket, '/v3/kv/put', put)
  }
  await using _site = await startSite(dataDir, socket)
  const all = { key: base64('\0'), range_end: base64('\0') }
  const answer = (await ask(socket, '/v3/kv/range', all)) as { kvs?: readonly object[] }
  const [found, ...others] = answer.kvs ?? []
  assert.partialDeepStrictEqual(found, put)
  // The objects of the site are not among them.
  assert.deepEqual(others, [])
})
