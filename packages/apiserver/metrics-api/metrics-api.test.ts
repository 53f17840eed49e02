import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { callApi, startTestApiServer, type TestApiServer, until } from '@skerry/testing'
import { ensureMetricsApiService } from './ensure-metrics-api-service.ts'
import { createMetricsApi } from './metrics-api.ts'
import { parseScrape, type UsagePoint } from './parse-scrape.ts'
import { usageBetween } from './usage-history.ts'

const startMs = Date.UTC(2026, 0, 1)

test('a scrape is read whatever else a kubelet sends, up to a bound', () => {
  const text = [
    '# HELP node_cpu_usage_seconds_total x',
    `node_cpu_usage_seconds_total 12.5 ${startMs}`,
    'node_memory_working_set_bytes 1.048576e+06',
    'container_cpu_usage_seconds_total{container="a",namespace="n",pod="p"} 1 5',
    'container_memory_working_set_bytes{namespace="n",pod="p",container="a"} 2048 5',
    'container_start_time_seconds{container="a",namespace="n",pod="p"} 1.5',
    'container_cpu_usage_seconds_total{container="half",namespace="n",pod="p"} 1 5',
    'something_else{a="b"} 3',
    'container_cpu_usage_seconds_total{container="b",namespace="n",pod="p"} NaN',
  ].join('\n')
  const { node, containers } = parseScrape(text, 7, 10)
  assert.deepEqual(node, { atMs: startMs, cpuSeconds: 12.5, memoryBytes: 1_048_576 })
  assert.deepEqual(
    [...containers],
    [['n/p/a', { atMs: 5, cpuSeconds: 1, memoryBytes: 2048, startMs: 1500 }]],
  )
  assert.equal(parseScrape(text, 7, 0).containers.size, 0)
})

test('a rate needs two samples of one run, or a run that is old enough', () => {
  const at = (seconds: number, cpuSeconds: number, startSeconds?: number): UsagePoint => ({
    atMs: seconds * 1000,
    cpuSeconds,
    memoryBytes: 1,
    ...(startSeconds === undefined ? {} : { startMs: startSeconds * 1000 }),
  })
  const table: [
    name: string,
    earlier: UsagePoint | undefined,
    later: UsagePoint,
    cores: number | undefined,
  ][] = [
    ['two looks', at(100, 10), at(110, 15), 0.5],
    ['one look', undefined, at(110, 15), undefined],
    ['the same moment twice', at(100, 10), at(100, 10), undefined],
    ['started between the looks', at(100, 10, 0), at(130, 2, 110), 0.1],
    ['too young', undefined, at(115, 2, 110), undefined],
    ['old enough at the first look', undefined, at(120, 5, 110), 0.5],
  ]
  for (const [name, earlier, later, cores] of table) {
    assert.equal(usageBetween(earlier, later)?.cores, cores, name)
  }
})

/** Starts a kubelet whose node and pod use half a core. */
async function startKubelet() {
  let seconds = 100
  const server = http.createServer((request, response) => {
    assert.equal(request.url, '/metrics/resource')
    const labels = 'container="app",namespace="default",pod="web"'
    response.end(
      [
        `node_cpu_usage_seconds_total ${seconds / 2} ${startMs + seconds * 1000}`,
        'node_memory_working_set_bytes 3145728',
        `container_cpu_usage_seconds_total{${labels}} ${seconds / 2} ${startMs + seconds * 1000}`,
        `container_memory_working_set_bytes{${labels}} 1048576`,
        `container_start_time_seconds{${labels}} ${startMs / 1000}`,
        '',
      ].join('\n'),
    )
    seconds += 15
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo
  return {
    dial: { dialNode: async () => net.connect(port, '127.0.0.1') },
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function startServer(kubelet: Awaited<ReturnType<typeof startKubelet>>) {
  const clock = simulatedClock(startMs)
  const server = await startTestApiServer({
    aggregation: { identity: () => ({ certificatePem: '', privateKeyPem: '' }) },
    localApis: (objects) => [
      createMetricsApi({ objects, dial: kubelet.dial, clock, log: silentLogger }),
    ],
  })
  await put(server, '/api/v1/nodes', {
    kind: 'Node',
    metadata: { name: 'n1', labels: { zone: 'a' } },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
  })
  await put(server, '/api/v1/namespaces/default/pods', {
    kind: 'Pod',
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { nodeName: 'n1', containers: [{ name: 'app', image: 'i' }] },
    status: { phase: 'Running' },
  })
  await server.objects.update(
    { group: '', resource: 'pods' },
    { namespace: 'default', name: 'web', subresource: 'status' },
    (pod) => void (pod['status'] = { phase: 'Running' }),
  )
  return { clock, server }
}

async function put(server: TestApiServer, path: string, body: object): Promise<void> {
  const reply = await callApi(server.transport, {
    method: 'POST',
    path,
    body: { apiVersion: 'v1', ...body },
  })
  assert.equal(reply.status, 201, reply.text)
}

test('nodes and pods report their usage, until a metrics-server takes over', async () => {
  using kubelet = await startKubelet()
  const { clock, server } = await startServer(kubelet)
  await using _server = server
  const root = '/apis/metrics.k8s.io/v1beta1'
  const get = (path: string, accept = 'application/json') =>
    callApi(server.transport, { path: `${root}${path}`, headers: { accept } })
  assert.equal((await get('/nodes')).status, 404)
  await ensureMetricsApiService(server.objects, true)
  // The kubelet answers over a socket.
  const nodes = await until(async () => {
    await clock.advance(15_000)
    const answer = await get('/nodes')
    return answer.body.items.length > 0 && answer
  })
  const [node] = nodes.body.items
  assert.deepEqual(
    [node.metadata.name, node.metadata.labels, node.usage, node.window],
    ['n1', { zone: 'a' }, { cpu: '500000000n', memory: '3Mi' }, '15s'],
  )
  const pod = await get('/namespaces/default/pods/web')
  assert.deepEqual(pod.body.containers, [
    { name: 'app', usage: { cpu: '500000000n', memory: '1Mi' } },
  ])
  assert.equal((await get('/pods?labelSelector=app%3Dother')).body.items.length, 0)
  const table = await get('/pods', 'application/json;as=Table;g=meta.k8s.io;v=v1')
  assert.deepEqual(table.body.rows[0].cells, ['web', '500000000n', '1Mi', '15s'])
  const missing = await get('/namespaces/default/pods/none')
  assert.equal(missing.body.message, 'podmetrics.metrics.k8s.io "default/none" not found')
  assert.equal((await get('')).body.resources.length, 2)
  const key = { namespace: '', name: 'v1beta1.metrics.k8s.io' }
  const apiServices = { group: 'apiregistration.k8s.io', resource: 'apiservices' }
  const takeOver = (service: object | undefined) =>
    server.objects.update(apiServices, key, (object) => {
      object['spec'] = { ...Object(object['spec']), service, insecureSkipTLSVerify: true }
    })
  await takeOver({ namespace: 'kube-system', name: 'metrics-server', port: 443 })
  assert.equal((await get('/nodes')).status, 503)
  await ensureMetricsApiService(server.objects, false)
  assert.equal((await get('/nodes')).status, 503)
  await server.objects.delete(apiServices, '', key.name)
  await ensureMetricsApiService(server.objects, true)
  assert.equal((await get('/nodes')).status, 200)
  await ensureMetricsApiService(server.objects, false)
  assert.equal((await get('/nodes')).status, 404)
})
