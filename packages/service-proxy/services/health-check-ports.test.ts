import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { silentLogger } from '@skerry/base'
import { until } from '@skerry/testing'
import { createHealthCheckPorts } from './health-check-ports.ts'
import { service, slice, type EndpointDraft } from '../testing/service-objects.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('a balancer hears whether this node has a ready endpoint of a service', async () => {
  const port = await freePort()
  let isHealthy = true
  const ports = createHealthCheckPorts(
    { nodeName: 'a' },
    { log: silentLogger, isHealthy: () => isHealthy },
  )
  const stop = new AbortController()
  const running = ports.run(stop.signal)
  const update = (endpoints: readonly EndpointDraft[], policy: 'Local' | 'Cluster'): void => {
    const spec = { type: 'LoadBalancer', healthCheckNodePort: port, externalTrafficPolicy: policy }
    ports.update([service('web', spec)], [slice('web', endpoints)])
  }
  const ask = () => fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } })
  const isAnswering = async (status: number): Promise<boolean> => {
    const answer = await ask().catch(() => undefined)
    await answer?.body?.cancel()
    return answer?.status === status
  }
  update(
    [
      { address: '10.42.0.2', node: 'a' },
      { address: '10.42.0.3', node: 'a' },
    ],
    'Local',
  )
  await until(() => isAnswering(200))
  const answer = await ask()
  assert.equal(answer.headers.get('x-load-balancing-endpoint-weight'), '2')
  assert.deepEqual(await answer.json(), {
    service: { namespace: 'shop', name: 'web' },
    localEndpoints: 2,
    serviceProxyHealthy: true,
  })
  isHealthy = false
  await until(() => isAnswering(503))
  isHealthy = true
  const elsewhere = { address: '10.42.1.2', node: 'b' }
  update([{ address: '10.42.0.2', node: 'a', ready: false }, elsewhere], 'Local')
  await until(() => isAnswering(503))
  update([elsewhere], 'Cluster')
  await until(async () => (await ask().catch(() => undefined)) === undefined)
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
})

test('a port that another program has is opened once it is free', async () => {
  const other = createServer().listen(0)
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const ports = createHealthCheckPorts(
    { nodeName: 'a' },
    { log: silentLogger, isHealthy: () => true },
  )
  const stop = new AbortController()
  const running = ports.run(stop.signal)
  const update = (): void => {
    const spec = {
      type: 'LoadBalancer',
      healthCheckNodePort: port,
      externalTrafficPolicy: 'Local',
    }
    ports.update([service('web', spec)], [slice('web', [{ address: '10.42.0.2', node: 'a' }])])
  }
  update()
  other.close()
  await once(other, 'close')
  await until(async () => {
    update()
    return (await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))?.status === 200
  })
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
})
