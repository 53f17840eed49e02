/** A pod under load: `kubectl top` shows what it uses, and its autoscaler adds more of it. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { whyNot } from './prerequisites.ts'

/** A container that keeps a part of a core busy, and one that is idle. */
const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: busy, namespace: default }
spec:
  replicas: 1
  selector: { matchLabels: { app: busy } }
  template:
    metadata: { labels: { app: busy } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: burn
          image: skerry-examples/guestbook:v1
          command: [sh, -c, 'while true; do :; done']
          resources: { requests: { cpu: 20m, memory: 8Mi }, limits: { cpu: 100m } }
        - name: idle
          image: skerry-examples/guestbook:v1
          command: [sleep, '1000000']
          resources: { requests: { cpu: 10m, memory: 8Mi } }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: busy, namespace: default }
spec:
  minReplicas: 1
  maxReplicas: 2
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: busy }
  metrics:
    - type: ContainerResource
      containerResource:
        name: cpu
        container: burn
        target: { type: AverageValue, averageValue: 40m }
`

test('top and autoscaling', { skip: await whyNot(), timeout: 300_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(1)
  const file = join(cluster.directory, 'busy.yaml')
  await writeFile(file, manifest)
  await cluster.kubectl('apply', '-f', file)
  await t.test('top shows the node, the pod and its containers', () => showsUsage(cluster))
  await t.test('the traffic of the pod is counted', () => countsTraffic(cluster))
  await t.test('the autoscaler adds a pod', () => scalesUp(cluster))
})

async function showsUsage(cluster: ClusterOnHosts): Promise<void> {
  const line = await cluster.waitFor('top to show the busy container', async () => {
    const text = await cluster.kubectl('top', 'pod', '--containers', '--no-headers')
    return text.split('\n').find((each) => / burn +\d\d+m /.test(each))
  })
  assert.match(line, /^busy-\S+ +burn +\d+m +\d+Mi/)
  assert.match(await cluster.kubectl('top', 'pod', '--no-headers'), /^busy-\S+ +\d+m +\d+Mi/)
  assert.match(
    await cluster.kubectl('top', 'node', '--no-headers'),
    /^\S+ +\d+m +\d+% +\d+Mi +\d+%/,
  )
}

/** Reads through the API the page that a Prometheus in the cluster scrapes. */
async function countsTraffic(cluster: ClusterOnHosts): Promise<void> {
  const node = await cluster.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')
  const path = `/api/v1/nodes/${node}/proxy/metrics/cadvisor`
  const metrics = await cluster.kubectl('get', '--raw', path)
  assert.match(
    metrics,
    /^container_network_receive_bytes_total\{interface="eth0",namespace="default",pod="busy-\S+"\} [1-9]/m,
  )
}

async function scalesUp(cluster: ClusterOnHosts): Promise<void> {
  await cluster.waitFor('the autoscaler to add a pod', async () => {
    const replicas = await cluster.kubectl('get', 'deploy/busy', '-o', 'jsonpath={.spec.replicas}')
    return replicas === '2' ? true : undefined
  })
  const events = await cluster.kubectl('get', 'events', '-o', 'jsonpath={.items[*].message}')
  assert.match(events, /New size: 2; reason: cpu resource above target/)
}
