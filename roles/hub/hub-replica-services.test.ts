import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import { startTestEtcd, whyNoEtcd, until } from '@skerry/testing'
import { startServiceScene } from '../../testing/scenes/service-scene.ts'
import { startTestHub } from '../../testing/scenes/test-fleet.ts'
import { etcdFlags } from '../../testing/scenes/test-replicas.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const skip = await whyNoEtcd()

test('a service of an edge is reached through another replica', { skip }, async () => {
  await using etcd = await startTestEtcd()
  await using scene = await startServiceScene(['shop/web:80'], { etcd: etcdFlags(etcd) })
  await scene.allow('sven', ['get'])
  const server = createServer((request, response) => response.end(`${request.url} is here`))
  await scene.serve('web', server)
  const replicaKeyFile = replicaKeyPath(scene.fleet.directory)
  await using second = await startTestHub({ etcd: etcdFlags(etcd), replicaKeyFile })
  const { port } = new URL(second.url)
  const options = { ...(await scene.options('/clusters/edge/services/shop/web:80/x')), port }
  const ask = async (): Promise<[status: number, text: string]> => {
    const request = httpsRequest({ ...options, agent: false }).end()
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    const chunks = await Array.fromAsync<Buffer>(answer)
    return [answer.statusCode ?? 0, Buffer.concat(chunks).toString()]
  }
  const limit = AbortSignal.timeout(20_000)
  // Waits until the replicas have found each other, and the right is known.
  const answered = await until(async () => {
    const answer = await ask()
    return answer[0] === 200 && answer
  }, limit)
  assert.deepEqual(answered, [200, '/x is here'])
})
