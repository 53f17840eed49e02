import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, type Discovery, type Transport } from '@skerry/client'
import { createMetricsClient } from './metrics-client.ts'

const signal = new AbortController().signal

/** Creates a client of a server that answers these paths, and NotFound for others. */
function clientOf(answers: Readonly<Record<string, unknown>>, groups: readonly string[] = []) {
  const transport: Transport = {
    async send({ path }) {
      const answer = answers[path]
      const isThere = answer !== undefined
      const text = isThere ? JSON.stringify(answer) : '404 page not found\n'
      async function* body() {
        yield Buffer.from(text)
      }
      return { status: isThere ? 200 : 404, headers: {}, body: body() }
    },
  }
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'skerry-test' }
  const resource = (group: string, version: string, name: string, kind: string) => ({
    group,
    version,
    resource: name,
    kind,
    isNamespaced: true,
    verbs: [],
    subresources: [],
    foreignSubresources: [],
    shortNames: [],
    categories: [],
    isPreferred: true,
  })
  const discovery: Discovery = {
    resources: [
      resource('apps', 'v1', 'deployments', 'Deployment'),
      ...groups.map((version) =>
        resource('custom.metrics.k8s.io', version, 'pods/x', 'MetricValueList'),
      ),
    ],
    stale: [],
  }
  return createMetricsClient(createCluster(transport, deps), async () => discovery)
}

const at = '2026-01-01T00:00:00Z'
const resourceRequest = { namespace: 'n', selector: 'a=b', resource: 'cpu', container: '' }

test('resource figures are summed over containers; a pod that lacks one has none', async () => {
  const client = clientOf({
    '/apis/metrics.k8s.io/v1beta1/namespaces/n/pods?labelSelector=a%3Db': {
      items: [
        {
          metadata: { name: 'whole' },
          timestamp: at,
          window: '15s',
          containers: [
            { name: 'x', usage: { cpu: '1500000n' } },
            { name: 'y', usage: { cpu: '2m' } },
          ],
        },
        {
          metadata: { name: 'half' },
          timestamp: at,
          window: '15s',
          containers: [
            { name: 'x', usage: { cpu: '1' } },
            { name: 'y', usage: {} },
          ],
        },
      ],
    },
  })
  const whole = { atMs: Date.parse(at), windowMs: 15_000, milli: 4 }
  assert.deepEqual([...(await client.resource(resourceRequest, signal))], [['whole', whole]])
  const one = await client.resource({ ...resourceRequest, container: 'x' }, signal)
  assert.deepEqual(
    [...one].map(([name, { milli }]) => [name, milli]),
    [
      ['whole', 2],
      ['half', 1000],
    ],
  )
})

test('custom figures come in the newest available version, external ones from their group', async () => {
  const item = (name: string, value: string) => ({
    describedObject: { name },
    timestamp: at,
    windowSeconds: 30,
    value,
  })
  const custom = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/n'
  const external = '/apis/external.metrics.k8s.io/v1beta1/namespaces/n'
  const client = clientOf(
    {
      [`${custom}/pods/*/rps?labelSelector=a%3Db&metricLabelSelector=v%3D1`]: {
        items: [item('p', '500m')],
      },
      [`${custom}/deployments.apps/web/depth`]: { items: [item('web', '7')] },
      [`/apis/custom.metrics.k8s.io/v1beta2/namespaces/n/metrics/depth`]: {
        items: [item('n', '3')],
      },
      [`${external}/queue?labelSelector=q%3Dx`]: { items: [{ value: '2' }, { value: '1500m' }] },
    },
    ['v1beta1', 'v1beta2'],
  )
  const place = { namespace: 'n', selector: 'a=b' }
  const pods = await client.pods({ ...place, metric: 'rps', metricSelector: 'v=1' }, signal)
  assert.deepEqual([...pods], [['p', { atMs: Date.parse(at), windowMs: 30_000, milli: 500 }]])
  const object = (apiVersion: string, kind: string) =>
    client.object(
      {
        namespace: 'n',
        reference: { apiVersion, kind, name: 'web' },
        metric: 'depth',
        metricSelector: '',
      },
      signal,
    )
  assert.equal(await object('apps/v1', 'Deployment'), 7000)
  assert.equal(await object('v1', 'Namespace'), 3000)
  await assert.rejects(object('apps/v1', 'Other'), /no matches for kind "Other" in group "apps"/)
  const queue = { namespace: 'n', metric: 'queue', metricSelector: 'q=x' }
  assert.deepEqual(await client.external(queue, signal), [2000, 1500])
})

test('a missing API is named', async () => {
  const client = clientOf({})
  const place = { namespace: 'n', selector: 'a=b' }
  await assert.rejects(client.resource(resourceRequest, signal), {
    message:
      'unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)',
  })
  await assert.rejects(client.pods({ ...place, metric: 'm', metricSelector: '' }, signal), {
    message:
      'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
  })
  const external = { namespace: 'n', metric: 'queue', metricSelector: '' }
  await assert.rejects(client.external(external, signal), {
    message:
      'unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)',
  })
})
