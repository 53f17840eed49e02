import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startTestEtcd, whyNoEtcd, until } from '@skerry/testing'
import {
  registerCluster,
  startTestAgent,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { etcdFlags } from '../../testing/scenes/test-replicas.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const skip = await whyNoEtcd()
const clusters = ['oslo', 'rome', 'nice']
/** The watches of one user to one cluster; those of two clusters fill one tunnel. */
const watchesOfEach = 500
const perSession = 250

/** Stands in for an API server: watches begin and stay silent. */
async function startEdge() {
  const server = createServer((request, response: ServerResponse) => {
    if (request.url?.includes('watch=')) return response.flushHeaders()
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function sessionOf(fleet: TestHub, url: string): Promise<ClientHttp2Session> {
  const subject = { commonName: 'olga', organizations: ['system:masters'] }
  const { certificate: cert, key } = await fleet.credentialsOf(subject)
  const session = connectHttp2(url, { ca: fleet.caPem, cert, key })
  await once(session, 'connect')
  return session
}

function statusOf(session: ClientHttp2Session, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path })
    stream.once('response', (headers) => resolve(Number(headers[':status'])))
    stream.on('error', reject)
    stream.resume()
  })
}

test(
  'open requests to many clusters through another replica keep nobody from the others',
  { skip },
  async () => {
    await using edge = await startEdge()
    await using etcd = await startTestEtcd()
    await using first = await startTestHub({ etcd: etcdFlags(etcd) })
    const replicaKeyFile = replicaKeyPath(first.directory)
    await using second = await startTestHub({ etcd: etcdFlags(etcd), replicaKeyFile })
    await using agents = new AsyncDisposableStack()
    for (const name of clusters) {
      await registerCluster(first, name)
      agents.use(await startTestAgent(first, { name, api: { server: edge.url } }))
      await untilCluster(second, name, ({ Connected }) => Connected === 'True')
    }
    using sessions = new DisposableStack()
    const open = async (): Promise<ClientHttp2Session> => {
      const session = await sessionOf(first, second.url)
      sessions.defer(() => session.destroy())
      session.on('error', () => undefined)
      return session
    }
    const asking = await open()
    const limit = AbortSignal.timeout(30_000)
    for (const name of clusters) {
      await until(async () => (await statusOf(asking, `/clusters/${name}/version`)) === 200, limit)
    }
    for (const name of ['oslo', 'rome']) {
      for (let count = 0; count < watchesOfEach; count += perSession) {
        const session = await open()
        const path = `/clusters/${name}/api/v1/pods?watch=1`
        const asked = Array.from({ length: perSession }, () => statusOf(session, path))
        assert.deepEqual(new Set(await Promise.all(asked)), new Set([200]), name)
      }
    }
    assert.equal(await statusOf(asking, '/clusters/nice/version'), 200)
  },
)
