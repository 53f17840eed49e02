import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { createCluster, readBody, resources, type Transport } from '@skerry/client'
import {
  agentUserName,
  agentsGroup,
  clusterAccessResource,
  clusterResource,
  virtualClusterResource,
  type AllowedService,
} from '@skerry/fleet-kinds'
import type { ClusterState } from '@skerry/gateway'
import { allowVirtualClusters } from '@skerry/membership'
import { createMapping } from '../../packages/virtual-clusters/mapping/mapping.ts'
import { createNamespaceRule } from '../../packages/virtual-clusters/mapping/namespace-rule.ts'
import { unpackClients, type TestApiServer, until } from '@skerry/testing'
import { createReadyPod } from '../../testing/scenes/service-scene.ts'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { hostAddresses } from '../runtime/host-addresses.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const virtualClusters = ['edge-east', 'edge-west']

interface Fleet extends AsyncDisposable {
  readonly edge: TestApiServer
  readonly hub: TestHub
}

/** Starts one edge cluster whose agent answers for two virtual ones, which the hub knows as its children. */
async function startFleet(services: readonly AllowedService[] = []): Promise<Fleet> {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge({ appliesWorks: true }))
  const hub = stack.use(await startTestHub())
  stack.use(
    await startTestAgent(hub, {
      name: 'edge',
      api: edge.api,
      appliesWorks: true,
      services,
      // Their pods have this machine's addresses.
      ownAddresses: () => [],
      onViews: (views) => async (signal) => {
        for (const clusterName of virtualClusters) {
          const group = { clusterName, namespaces: createNamespaceRule({ clusterName }) }
          views.set({ group, mapping: createMapping(group) })
        }
        if (!signal.aborted) await once(signal, 'abort')
      },
    }),
  )
  await untilCluster(hub, 'edge', ({ Connected }) => Connected === 'True')
  await allowVirtualClusters(hub.admin, { cluster: 'edge', isAllowed: true }, soon())
  const subject = { commonName: agentUserName('edge'), organizations: [agentsGroup] }
  using transport = await hub.as(subject)
  const clusters = clusterOver(transport, hub).resource(clusterResource)
  for (const name of virtualClusters) {
    const object = {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name },
    }
    await clusters.create({ ...object, spec: { syncMode: 'Pull' } }, soon())
  }
  const owned = stack.move()
  return { edge, hub, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function clusterOver(transport: Transport, { context }: TestHub) {
  return createCluster(transport, { ...context, userAgent: 'test' })
}

test('a virtual cluster is reached through its parent, by its own name and rights', async () => {
  await using fleet = await startFleet()
  const { hub, edge } = fleet
  await hub.admin.resource(clusterAccessResource).create(
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'ClusterAccess',
      metadata: { name: 'east' },
      spec: {
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
        clusterSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['east'] }] },
        verbs: ['*'],
      },
    },
    soon(),
  )
  const labelled = { metadata: { labels: { team: 'east' } } }
  const patch = { name: 'edge-east', type: 'merge' as const, patch: labelled }
  await hub.admin.resource(clusterResource).patch(patch, soon())
  await edge.objects.create(
    { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'eve' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    },
  )
  using own = await hub.as({ commonName: 'eve' }, '/clusters/edge-east')
  const east = clusterOver(own, hub)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  await east.resource(resources.namespaces).create(namespace, soon())
  const { items } = await east.resource(resources.namespaces).list({}, soon())
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['shop'],
  )
  using aggregated = await hub.as(
    { commonName: 'eve' },
    '/apis/cluster.karmada.io/v1alpha1/clusters/edge-east/proxy',
  )
  const byKarmada = await clusterOver(aggregated, hub)
    .resource(resources.namespaces)
    .get({ name: 'shop' }, soon())
  assert.equal(byKarmada.metadata.name, 'shop')
  const configMaps = east.resource(resources.configMaps)
  const { metadata } = await configMaps.list({}, soon())
  const events = configMaps.watch({ resourceVersion: metadata.resourceVersion ?? '' }, soon())
  const lamp = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'lamp', namespace: 'shop' },
  }
  await configMaps.create(lamp, soon())
  for await (const event of events) {
    if (event.type === 'BOOKMARK') continue
    assert.deepEqual([event.type, event.object.metadata.namespace], ['ADDED', 'shop'])
    break
  }
  for (const name of ['edge-west', 'edge']) {
    using other = await hub.as({ commonName: 'eve' }, `/clusters/${name}`)
    const path = '/api/v1/namespaces'
    const headers = { 'x-skerry-virtual-cluster': 'edge-east' }
    const { status, body } = await other.send({ method: 'GET', path, headers }, soon())
    await readBody(body)
    assert.equal(status, 403, name)
  }
  using whole = await hub.as(operator, '/clusters/edge')
  const claimed = { 'x-skerry-virtual-cluster': 'edge-east', 'x-skerry-virtual-user': 'nobody' }
  const all = await whole.send(
    { method: 'GET', path: '/api/v1/namespaces', headers: claimed },
    soon(),
  )
  assert.match((await readBody(all.body)).toString(), /"kube-system"/, 'the hub alone says so')
  await until(async () => {
    const audit = await readFile(join(hub.directory, 'audit.log'), 'utf8')
    const written = /"user":"eve".*"cluster":"edge-east","method":"POST".*"status":201/.test(audit)
    return written || undefined
  })
})

test('a virtual cluster is as connected as its parent', async () => {
  await using fleet = await startFleet()
  const { hub } = fleet
  await untilCluster(hub, 'edge-east', ({ Connected }) => Connected === 'True')
  using transport = await hub.as(operator)
  const { text } = await answerOf(transport, '/hub/v1/cluster-states/edge-east')
  const state: ClusterState = JSON.parse(text)
  assert.deepEqual([state.tunnel, state.through, state.agents], ['open', 'edge', []])
})

async function answerOf(transport: Transport, path: string) {
  const { status, body } = await transport.send({ method: 'GET', path, headers: {} }, soon())
  return { status, text: (await readBody(body)).toString() }
}

test('services of a virtual cluster are reached by its name, as far as the edge allows them by its own', async () => {
  await using fleet = await startFleet([{ namespace: 'shop-edge-east', name: 'till', port: '80' }])
  const { hub, edge } = fleet
  const [address = ''] = hostAddresses()
  await using server = createServer((_request, response) => void response.end('a till of the east'))
  server.listen(0, address)
  await once(server, 'listening')
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  for (const name of virtualClusters) {
    using own = await hub.as(operator, `/clusters/${name}`)
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    await clusterOver(own, hub).resource(resources.namespaces).create(namespace, soon())
  }
  for (const name of ['till', 'office']) {
    const metadata = { namespace: 'shop-edge-east', name }
    const spec = { selector: { app: name }, ports: [{ port: 80, targetPort: port }] }
    await edge.objects.create(
      { group: '', resource: 'services' },
      { apiVersion: 'v1', kind: 'Service', metadata, spec },
    )
  }
  await createReadyPod(edge.objects, { namespace: 'shop-edge-east', name: 'till', address })
  using transport = await hub.as(operator)
  const table: [path: string, status: number, text: RegExp][] = [
    ['edge-east/services/shop/till:80/', 200, /^a till of the east$/],
    ['edge/services/shop-edge-east/till:80/', 200, /^a till of the east$/],
    ['edge-east/services/shop/office:80/', 403, /--allow-service shop-edge-east\/office:80/],
    ['edge-west/services/shop/till:80/', 403, /--allow-service shop-edge-west\/till:80/],
    [
      'edge-east/services/shop-edge-east/till:80/',
      404,
      /namespaces \\"shop-edge-east\\" not found/,
    ],
    ['edge-east/services/kube-system/till:80/', 404, /namespaces \\"kube-system\\" not found/],
  ]
  for (const [path, status, text] of table) {
    const told = await answerOf(transport, `/clusters/${path}`)
    assert.match(told.text, text, path)
    assert.equal(told.status, status, path)
  }
})

test('a namespace that somebody makes in a virtual cluster is isolated as its others are', async () => {
  await using edge = await startTestEdge({ hasVirtualClusters: true })
  await using hub = await startTestHub()
  await allowVirtualClusters(hub.admin, { cluster: 'bank', isAllowed: true }, soon())
  const asked = { name: 'bank', api: edge.api, hasVirtualClusters: true }
  await using _agent = await startTestAgent(hub, asked)
  const local = createCluster(edge.transport, { ...hub.context, userAgent: 'test' })
  const quota = { 'count/configmaps': '7' }
  const made = {
    apiVersion: 'edge.skerry.io/v1alpha1',
    kind: 'VirtualCluster',
    metadata: { name: 'east' },
    spec: { nodeNames: ['n1'], isolation: { closedNetwork: true, quota } },
  }
  await untilTaken(() => local.resource(virtualClusterResource).create(made, soon()))
  using transport = await hub.as(operator, '/clusters/bank-east')
  const east = clusterOver(transport, hub)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  await untilTaken(() => east.resource(resources.namespaces).create(namespace, soon()))
  const found = await until(async () => {
    const { items } = await east.resource(resources.resourceQuotas).list({}, soon())
    const closed = await east.resource(resources.networkPolicies).list({}, soon())
    const all = [...items, ...closed.items]
      .map(({ metadata }) => metadata.namespace ?? '')
      .toSorted()
    return all.length === 4 ? all : undefined
  })
  assert.deepEqual(found, ['default', 'default', 'shop', 'shop'])
  const [held] = (await east.resource(resources.resourceQuotas).list({}, soon())).items
  assert.deepEqual(held?.spec?.hard, quota)
})

/** Retries until the agent has created the kind, the cluster and the way there. */
function untilTaken<T>(create: () => Promise<T>): Promise<T> {
  return until(async () => {
    try {
      return await create()
    } catch (error) {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'ServiceUnavailable')) {
        return undefined
      }
      throw error
    }
  })
}

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

test('kubectl and helm work in a virtual cluster as in any other', async (t) => {
  await using fleet = await startFleet()
  const { hub, edge } = fleet
  const { certificate, key } = await hub.credentialsOf(operator)
  const directory = hub.directory
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const kubeconfig = join(directory, 'east.kubeconfig')
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'east',
          cluster: {
            server: `${hub.url}/clusters/edge-east`,
            'certificate-authority-data': base64(hub.caPem),
          },
        },
      ],
      users: [
        {
          name: 'olga',
          user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) },
        },
      ],
      contexts: [{ name: 'east', context: { cluster: 'east', user: 'olga' } }],
      'current-context': 'east',
    }),
    { mode: 0o600 },
  )
  const clients = await unpackClients()
  const { PATH } = process.env
  const env = { PATH, HOME: directory, KUBECONFIG: kubeconfig }
  const run = (program: keyof typeof clients, args: string[], input?: object): Promise<Ended> =>
    new Promise((resolve) => {
      const child = execFile(clients[program], args, { env }, (error, stdout, stderr) => {
        const exitCode = typeof error?.code === 'number' ? error.code : error ? 1 : 0
        resolve({ exitCode, stdout, stderr })
      })
      child.stdin?.end(input === undefined ? '' : JSON.stringify(input))
    })
  const kubectl = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run('kubectl', args)
    assert.equal(exitCode, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }

  await t.test('kubectl', async () => {
    await kubectl('create', 'namespace', 'shop')
    const manifest = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'till', namespace: 'shop' },
      spec: {
        selector: { matchLabels: { app: 'till' } },
        template: {
          metadata: { labels: { app: 'till' } },
          spec: { containers: [{ name: 'till', image: 'till:1' }] },
        },
      },
    }
    for (const args of [
      ['apply', '-f', '-'],
      ['diff', '-f', '-'],
      ['apply', '--server-side', '--force-conflicts', '-f', '-'],
      ['diff', '--server-side', '--force-conflicts', '-f', '-'],
    ]) {
      const { exitCode, stdout, stderr } = await run('kubectl', args, manifest)
      assert.equal(exitCode, 0, `${args.join(' ')}: ${stdout}${stderr}`)
    }
    assert.match(await kubectl('get', 'deployments', '-A'), /^NAMESPACE .*\nshop +till +0\/1/)
    assert.match(await kubectl('get', 'namespaces'), /^NAME .*\nshop +Active .*\n$/)
    await kubectl('-n', 'shop', 'scale', 'deployment', 'till', '--replicas=2')
    await kubectl('-n', 'shop', 'set', 'image', 'deployment/till', 'till=till:2')
    assert.match(
      await kubectl('-n', 'shop', 'describe', 'deployment', 'till'),
      /Namespace: +shop\n/,
    )
    assert.equal(
      await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'),
      'olga',
    )
    assert.equal(await kubectl('auth', 'can-i', 'create', 'pods', '-n', 'shop'), 'yes\n')
    assert.match(await kubectl('cluster-info'), /is running at .*\/clusters\/edge-east/)
  })

  await t.test('helm', async () => {
    const chart = join(directory, 'chart')
    await mkdir(join(chart, 'templates'), { recursive: true })
    await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: lamp\nversion: 0.1.0\n')
    await writeFile(
      join(chart, 'templates', 'all.yaml'),
      `apiVersion: v1
kind: ConfigMap
metadata: {name: lamp, namespace: {{ .Release.Namespace }}}
data: {color: {{ .Values.color }}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: lamp}
spec:
  schedule: "0 0 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}
`,
    )
    const helm = async (...args: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await run('helm', args)
      assert.equal(exitCode, 0, `${args.join(' ')}: ${stderr}`)
      return stdout
    }
    for (const color of ['red', 'blue']) {
      const release = ['upgrade', '--install', 'lamp', chart, '-n', 'home', '--create-namespace']
      await helm(...release, '--set', `color=${color}`)
    }
    assert.match(await helm('list', '-A'), /lamp\s+home\s+2/)
    const found = edge.objects.get({ group: '', resource: 'configmaps' }, 'home-edge-east', 'lamp')
    assert.deepEqual(found?.['data'], { color: 'blue' })
    await helm('uninstall', 'lamp', '-n', 'home')
    assert.equal(await kubectl('-n', 'home', 'get', 'configmaps,cronjobs', '-o', 'name'), '')
    assert.equal(
      edge.objects.get({ group: '', resource: 'configmaps' }, 'home-edge-east', 'lamp'),
      undefined,
    )
  })
})
