import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkedSignal, silentLogger, simulatedClock, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createEventSink } from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import {
  callApi,
  startTestApiServer,
  type JsonReply,
  type TestApiServer,
  until,
} from '@skerry/testing'
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler-controller.ts'

const selector = { matchLabels: { app: 'web' } }
const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [{ name: 'app', image: 'i', resources: { requests: { cpu: '100m' } } }],
  },
}
const autoscalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

/** Starts an API server with a metrics API in which every pod uses what the test sets. */
async function startWorld(usage: { cpu: string | undefined }) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(
    await startTestApiServer({
      aggregation: { identity: () => ({ certificatePem: '', privateKeyPem: '' }) },
      localApis: (objects) => [
        {
          group: 'metrics.k8s.io',
          version: 'v1beta1',
          resources: [],
          openApiV3: () => ({}),
          openApiV2: () => ({ paths: {}, definitions: {} }),
          serve: async () => ({
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(
              JSON.stringify({
                kind: 'PodMetricsList',
                items:
                  usage.cpu === undefined
                    ? []
                    : objects.list({ group: '', resource: 'pods' }, 'default').map((pod) => ({
                        metadata: { name: pod.metadata.name },
                        timestamp: new Date().toISOString(),
                        window: '15s',
                        containers: [{ name: 'app', usage: { cpu: usage.cpu } }],
                      })),
              }),
            ),
          }),
        },
      ],
    }),
  )
  const clock = simulatedClock(Date.now())
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(server.transport, { ...deps, userAgent: 'skerry-test' })
  const informers = createInformerSet(cluster, deps)
  const events = createEventSink(cluster, deps)
  const scope = stack.use(linkedSignal(new AbortController().signal))
  const running = [
    informers.run(scope.signal),
    events.run(scope.signal),
    runController(
      horizontalPodAutoscalerController,
      { ...deps, cluster, informers, events, clock },
      scope.signal,
    ),
  ].map((task) => task.catch((error: unknown) => assert.ok(scope.signal.aborted, String(error))))
  stack.defer(async () => {
    scope.abort(new Error('Test ended'))
    await Promise.all(running)
  })
  const owned = stack.move()
  return { server, clock, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function post(server: TestApiServer, path: string, body: object): Promise<void> {
  const reply = await callApi(server.transport, { method: 'POST', path, body })
  assert.equal(reply.status, 201, reply.text)
}

/** Creates a deployment of two running pods, and its autoscaler. */
async function createWorkload(server: TestApiServer, scaleTargetName = 'web'): Promise<void> {
  await post(server, '/apis/apiregistration.k8s.io/v1/apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  })
  await post(server, deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 2, selector, template },
  })
  const started = new Date(Date.now() - 3_600_000).toISOString()
  for (const name of ['a', 'b']) {
    await post(server, '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: 'web' } },
      spec: template.spec,
    })
    await server.objects.update(
      { group: '', resource: 'pods' },
      { namespace: 'default', name, subresource: 'status' },
      (pod) => {
        const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: started }]
        pod['status'] = { phase: 'Running', startTime: started, conditions }
      },
    )
  }
  await post(server, autoscalers, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web' },
    spec: {
      minReplicas: 1,
      maxReplicas: 10,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: scaleTargetName },
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
        },
      ],
    },
  })
}

/** Returns the autoscaler's status once it has a condition with that reason. */
async function statusWith(
  { server, clock }: Awaited<ReturnType<typeof startWorld>>,
  reason: string,
): Promise<JsonReply> {
  return until(async () => {
    const { body } = await callApi(server.transport, { path: `${autoscalers}/web` })
    const conditions: { reason: string }[] = body.status.conditions ?? []
    if (conditions.some((condition) => condition.reason === reason)) return body.status
    await clock.advance(15_000)
    return undefined
  })
}

function conditionOf(status: JsonReply, type: string): string {
  const found = status.conditions.find((each: { type: string }) => each.type === type)
  return `${found?.status} ${found?.reason}: ${found?.message}`
}

test('a deployment whose pods are busy grows, and its autoscaler says why', async () => {
  await using world = await startWorld({ cpu: '80m' })
  const { server } = world
  await createWorkload(server)
  const status = await statusWith(world, 'SucceededRescale')
  const { body } = await callApi(server.transport, { path: `${deployments}/web/scale` })
  // Two pods use 80 % of their request, where 50 % is the target.
  assert.equal(body.spec.replicas, 4)
  assert.equal(status.currentReplicas, 2)
  assert.equal(status.desiredReplicas, 4)
  assert.deepEqual(status.currentMetrics, [
    {
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '80m' } },
    },
  ])
  assert.equal(
    conditionOf(status, 'AbleToScale'),
    'True SucceededRescale: the HPA controller was able to update the target scale to 4',
  )
  assert.equal(
    conditionOf(status, 'ScalingActive'),
    'True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)',
  )
  assert.equal(
    conditionOf(status, 'ScalingLimited'),
    'False DesiredWithinRange: the desired count is within the acceptable range',
  )
})

test('without figures nothing changes, and the autoscaler says what it lacks', async () => {
  await using world = await startWorld({ cpu: undefined })
  await createWorkload(world.server)
  const status = await statusWith(world, 'FailedGetResourceMetric')
  assert.equal(
    conditionOf(status, 'ScalingActive'),
    'False FailedGetResourceMetric: the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
  )
  assert.match(conditionOf(status, 'AbleToScale'), /^True SucceededGetScale/)
})

test('a missing target is reported', async () => {
  await using world = await startWorld({ cpu: '80m' })
  await createWorkload(world.server, 'other')
  const status = await statusWith(world, 'FailedGetScale')
  assert.equal(
    conditionOf(status, 'AbleToScale'),
    'False FailedGetScale: the HPA controller was unable to get the target\'s current scale: deployments.apps "other" not found',
  )
})
