/** One application in three places of a cluster: each place has its own pods, and its traffic stays there. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { echoArchives } from './echo-archives.ts'
import { whyNot } from './prerequisites.ts'
import { whoAnswers } from './who-answers.ts'

/** SuperEdge's example of a stateless application. */
const stateless = `
apiVersion: superedge.io/v1
kind: DeploymentGrid
metadata: { name: deploymentgrid-demo, namespace: default }
spec:
  gridUniqKey: zone1
  template:
    replicas: 2
    selector: { matchLabels: { appGrid: echo } }
    strategy: {}
    template:
      metadata: { labels: { appGrid: echo } }
      spec:
        containers:
          - image: superedge/echoserver:2.2
            name: echo
            ports: [{ containerPort: 8080, protocol: TCP }]
            env:
              - { name: NODE_NAME, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }
              - { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
            resources: {}
---
apiVersion: superedge.io/v1
kind: ServiceGrid
metadata: { name: servicegrid-demo, namespace: default }
spec:
  gridUniqKey: zone1
  template:
    selector: { appGrid: echo }
    ports: [{ protocol: TCP, port: 80, targetPort: 8080 }]
`

/** Its example of a stateful one. */
const stateful = `
apiVersion: superedge.io/v1
kind: StatefulSetGrid
metadata: { name: statefulsetgrid-demo, namespace: default }
spec:
  gridUniqKey: zone1
  template:
    selector: { matchLabels: { appGrid: stateful } }
    serviceName: stateful-svc
    replicas: 2
    template:
      metadata: { labels: { appGrid: stateful } }
      spec:
        terminationGracePeriodSeconds: 0
        containers:
          - image: superedge/echoserver:2.2
            name: echo
            ports: [{ containerPort: 8080, protocol: TCP }]
---
apiVersion: superedge.io/v1
kind: ServiceGrid
metadata: { name: stateful, namespace: default }
spec:
  gridUniqKey: zone1
  template:
    clusterIP: None
    selector: { appGrid: stateful }
    ports: [{ protocol: TCP, port: 8080 }]
`

/** The same pods behind services that other systems close, and one that prefers its zone. */
const otherSystems = `
apiVersion: v1
kind: Service
metadata:
  name: kubeedge
  annotations: { apps.kubeedge.io/service-topology: range-nodegroup }
spec: { selector: { appGrid: echo }, ports: [{ port: 80, targetPort: 8080 }] }
---
apiVersion: v1
kind: Service
metadata:
  name: openyurt
  annotations: { openyurt.io/topologyKeys: openyurt.io/nodepool }
spec: { selector: { appGrid: echo }, ports: [{ port: 80, targetPort: 8080 }] }
---
apiVersion: v1
kind: Service
metadata: { name: same-zone }
spec:
  trafficDistribution: PreferSameZone
  selector: { appGrid: echo }
  ports: [{ port: 80, targetPort: 8080 }]
---
apiVersion: apps.kubeedge.io/v1alpha1
kind: NodeGroup
metadata: { name: shanghai-group }
spec: { matchLabels: { zone1: shanghai }, topologyEnabled: true }
---
apiVersion: apps.kubeedge.io/v1alpha1
kind: NodeGroup
metadata: { name: beijing-group }
spec: { matchLabels: { zone1: beijing }, topologyEnabled: true }
---
apiVersion: apps.openyurt.io/v1beta2
kind: NodePool
metadata: { name: shanghai-pool }
spec: { type: Edge }
---
apiVersion: apps.openyurt.io/v1beta2
kind: NodePool
metadata: { name: beijing-pool }
spec: { type: Edge }
`

/**
 * KubeEdge's and OpenYurt's applications with the fields of their examples. KubeEdge's own one is invalid YAML.
 */
const applications = `
apiVersion: apps.kubeedge.io/v1alpha1
kind: EdgeApplication
metadata: { name: nginx-app, namespace: default }
spec:
  workloadTemplate:
    manifests:
      - apiVersion: apps/v1
        kind: Deployment
        metadata: { name: nginx }
        spec:
          selector: { matchLabels: { app: nginx } }
          template:
            metadata: { labels: { app: nginx } }
            spec:
              containers:
                - name: nginx
                  image: superedge/echoserver:2.2
                  ports: [{ containerPort: 8080 }]
      - apiVersion: v1
        kind: Service
        metadata: { name: nginx-service }
        spec:
          selector: { app: nginx }
          ports: [{ name: http, protocol: TCP, port: 80, targetPort: 8080 }]
  workloadScope:
    targetNodeGroups:
      - name: shanghai-group
        overriders:
          replicas: 2
          imageOverriders: [{ component: Tag, operator: replace, value: '2.3' }]
          envOverriders:
            - { containerName: nginx, operator: add, value: [{ name: env1, value: test1 }] }
      - name: beijing-group
        overriders: { replicas: 1 }
---
apiVersion: apps.openyurt.io/v1beta1
kind: YurtAppSet
metadata: { name: example, namespace: default }
spec:
  revisionHistoryLimit: 5
  pools: [shanghai-pool, beijing-pool]
  nodepoolSelector: { matchLabels: { yurtappset.openyurt.io/type: nginx } }
  workload:
    workloadTemplate:
      deploymentTemplate:
        metadata: { labels: { app: example } }
        spec:
          replicas: 1
          selector: { matchLabels: { app: example } }
          template:
            metadata: { labels: { app: example } }
            spec: { containers: [{ name: nginx, image: superedge/echoserver:2.2 }] }
    workloadTweaks:
      - pools: [beijing-pool]
        tweaks:
          replicas: 2
          containerImages: [{ name: nginx, targetImage: superedge/echoserver:2.3 }]
          patches: [{ path: /metadata/labels, operation: add, value: { foo: bar } }]
`

const domain = 'default.svc.cluster.local'
const service = `servicegrid-demo-svc.${domain}`

interface Places {
  readonly shanghai: readonly EdgeNode[]
  readonly beijing: readonly EdgeNode[]
  /** Has no place at first. */
  readonly late: readonly EdgeNode[]
}

test('one application in three places', { skip: await whyNot(), timeout: 600_000 }, async (t) => {
  const systems = ['--edge-apps', 'superedge,kubeedge,openyurt']
  const neighbours = ['--neighbours-by', 'zone1']
  const siteFlags = async () => [...systems, ...neighbours]
  await using cluster = await ClusterOnHosts.start({ archives: await echoArchives(), siteFlags })
  const nodes: EdgeNode[] = []
  for (const number of [1, 2, 3, 4, 5, 6]) {
    nodes.push(await cluster.addNode(number, neighbours))
  }
  const places = {
    shanghai: nodes.slice(0, 2),
    beijing: nodes.slice(2, 4),
    late: nodes.slice(4),
  }
  for (const place of ['shanghai', 'beijing'] as const) await label(cluster, places, place)
  await t.test('each place has its pods', () => hasPods(cluster))
  await t.test('a service leads each node to the pods of its place', () =>
    closes(cluster, places, service),
  )
  await t.test('a pod reaches its own place alone', () => closesPods(cluster, places))
  await t.test('the services of KubeEdge, OpenYurt and Kubernetes do the same', () =>
    closesOthers(cluster, places),
  )
  await t.test('the pods of a grid have the same names in each place', () =>
    hasSameNames(cluster, places),
  )
  await t.test('an EdgeApplication runs in each group as its overriders say', () =>
    runsInGroups(cluster, places),
  )
  await t.test('a YurtAppSet runs in each pool as its tweaks say', () => runsInPools(cluster))
  await t.test('one place gets a template of its own', () => hasTemplate(cluster))
  await t.test('a place that grows from no nodes gets its pods', () => grows(cluster, places))
  await t.test('the nodes of a place see each other', () => seeEachOther(cluster, places))
  await t.test('a place that is cut off and loses its power keeps its traffic', () =>
    goesOnAlone(cluster, places),
  )
  await t.test('deleting leaves nothing', () => leavesNothing(cluster))
})

async function label(cluster: ClusterOnHosts, places: Places, place: keyof Places): Promise<void> {
  const names = places[place].map(({ name }) => name)
  await cluster.kubectl('label', 'nodes', ...names, `zone1=${place}`)
}

async function hasPods(cluster: ClusterOnHosts): Promise<void> {
  await cluster.apply(stateless)
  for (const place of ['shanghai', 'beijing']) await untilRolledOut(cluster, place)
  assert.deepEqual(await deployments(cluster), [
    'deploymentgrid-demo-beijing',
    'deploymentgrid-demo-shanghai',
  ])
}

async function deployments(cluster: ClusterOnHosts): Promise<string[]> {
  const path = 'jsonpath={.items[*].metadata.name}'
  return (await cluster.kubectl('get', 'deployments', '-o', path)).split(' ')
}

/** A deployment that does not exist yet has no rollout. */
async function untilRolledOut(cluster: ClusterOnHosts, place: string): Promise<void> {
  const name = `deployment/deploymentgrid-demo-${place}`
  await cluster.waitFor(`${name} to be rolled out`, async () => {
    const { exitCode } = await cluster.tryKubectl(['rollout', 'status', name, '--timeout=60s'])
    return exitCode === 0 ? true : undefined
  })
}

/** The pods of an application on the nodes of a place, in order. */
async function podsOf(
  cluster: ClusterOnHosts,
  place: readonly EdgeNode[],
  label = 'appGrid=echo',
): Promise<string[]> {
  const query = ['get', 'pods', '-l', label, '-o', 'json']
  const { items } = JSON.parse(await cluster.kubectl(...query)) as { items: Pod[] }
  const names = new Set(place.map(({ name }) => name))
  const living = items.filter(
    ({ metadata, spec }) =>
      metadata.deletionTimestamp === undefined && names.has(spec?.nodeName ?? ''),
  )
  return living.map(({ metadata }) => metadata.name ?? '').toSorted()
}

async function closes(cluster: ClusterOnHosts, places: Places, name: string): Promise<void> {
  for (const place of ['shanghai', 'beijing'] as const) {
    const pods = await podsOf(cluster, places[place])
    assert.equal(pods.length, 2)
    for (const { host } of places[place]) await untilAnswers(cluster, { host, name }, pods)
  }
}

async function untilAnswers(
  cluster: ClusterOnHosts,
  { host, name, port }: { host: EdgeNode['host']; name: string; port?: number },
  expected: readonly string[],
): Promise<void> {
  let answers: readonly string[] = []
  const wanted = JSON.stringify(expected)
  await cluster.waitFor(
    `${name} to lead ${host.name} to ${wanted} alone`,
    async () => {
      answers = await whoAnswers(host, name, port)
      return JSON.stringify(answers) === wanted ? true : undefined
    },
    { diagnose: async () => `it led to ${JSON.stringify(answers)}\n${await cluster.diagnose()}` },
  )
}

async function closesPods(cluster: ClusterOnHosts, places: Places): Promise<void> {
  const ask = `for n in 1 2 3 4 5 6 7 8; do wget -q -O - http://servicegrid-demo-svc; done`
  for (const place of [places.shanghai, places.beijing]) {
    const pods = await podsOf(cluster, place)
    for (const pod of pods) {
      const answers = await cluster.kubectl('exec', pod, '--', 'sh', '-c', ask)
      for (const answer of answers.trim().split('\n')) assert.ok(pods.includes(answer), answer)
    }
  }
}

async function closesOthers(cluster: ClusterOnHosts, places: Places): Promise<void> {
  await cluster.apply(otherSystems)
  for (const place of ['shanghai', 'beijing'] as const) {
    const inPool = places[place].map(({ name }) => name)
    await cluster.kubectl('label', 'nodes', ...inPool, `apps.openyurt.io/nodepool=${place}-pool`)
  }
  await cluster.apply(applications)
  for (const name of ['kubeedge', 'same-zone']) await closes(cluster, places, `${name}.${domain}`)
  const [first] = places.shanghai
  assert.ok(first)
  const pods = await podsOf(cluster, places.shanghai)
  await untilAnswers(cluster, { host: first.host, name: `openyurt.${domain}` }, pods)
}

async function hasSameNames(cluster: ClusterOnHosts, places: Places): Promise<void> {
  await cluster.apply(stateful)
  for (const place of ['shanghai', 'beijing'] as const) {
    for (const ordinal of [0, 1]) {
      const name = `statefulsetgrid-demo-${ordinal}.stateful-svc.${domain}`
      const pod = `statefulsetgrid-demo-${place}-${ordinal}`
      for (const { host } of places[place]) {
        await untilAnswers(cluster, { host, name, port: 8080 }, [pod])
      }
    }
  }
}

async function runsInGroups(cluster: ClusterOnHosts, places: Places): Promise<void> {
  for (const [place, replicas, container] of [
    ['shanghai', 2, 'superedge/echoserver:2.3 test1'],
    ['beijing', 1, 'superedge/echoserver:2.2'],
  ] as const) {
    const pods = await cluster.waitFor(`the application in ${place}`, async () => {
      const found = await podsOf(cluster, places[place], 'app=nginx')
      return found.length === replicas ? found : undefined
    })
    for (const { host } of places[place]) {
      await untilAnswers(cluster, { host, name: `nginx-service.${domain}` }, pods)
    }
    const fields = ['.image', '.env[0].value'].map(
      (field) => `{.spec.template.spec.containers[0]${field}}`,
    )
    const query = ['get', 'deployment', `nginx-${place}-group`, '-o']
    const found = await cluster.kubectl(...query, `jsonpath=${fields.join(' ')}`)
    assert.equal(found.trim(), container)
  }
  await cluster.kubectl('delete', 'edgeapplication', 'nginx-app', '--wait=false')
}

async function runsInPools(cluster: ClusterOnHosts): Promise<void> {
  const counts = ['totalWorkloads', 'readyWorkloads', 'updatedWorkloads']
  await cluster.waitFor('the workloads of both pools', async () => {
    const path = `jsonpath=${counts.map((each) => `{.status.${each}}`).join(' ')}`
    return (await cluster.kubectl('get', 'yas', 'example', '-o', path)) === '2 2 2'
      ? true
      : undefined
  })
  const fields = [
    '.status.readyReplicas',
    '.spec.template.spec.containers[0].image',
    '.metadata.labels.foo',
  ]
  const path = `jsonpath=${fields.map((each) => `{.items[0]${each}}`).join(' ')}`
  for (const [pool, expected] of [
    ['shanghai-pool', '1 superedge/echoserver:2.2'],
    ['beijing-pool', '2 superedge/echoserver:2.3 bar'],
  ] as const) {
    const query = ['get', 'deployments', '-l', `apps.openyurt.io/pool-name=${pool}`, '-o', path]
    assert.equal((await cluster.kubectl(...query)).trim(), expected)
  }
  await cluster.kubectl('delete', 'yas', 'example', '--wait=false')
}

async function hasTemplate(cluster: ClusterOnHosts): Promise<void> {
  const grid = JSON.parse(
    await cluster.kubectl('get', 'deploymentgrid', 'deploymentgrid-demo', '-o', 'json'),
  ) as { spec: { template: { template: { spec: { containers: { image: string }[] } } } } }
  const canary = structuredClone(grid.spec.template)
  for (const container of canary.template.spec.containers) {
    container.image = 'superedge/echoserver:2.3'
  }
  const spec = { templatePool: { canary }, templates: { beijing: 'canary' } }
  const patch = JSON.stringify({ spec })
  const target = ['deploymentgrid', 'deploymentgrid-demo']
  await cluster.kubectl('patch', ...target, '--type=merge', '-p', patch)
  const imageOf = (place: string): Promise<string> => {
    const path = 'jsonpath={.spec.template.spec.containers[0].image}'
    return cluster.kubectl('get', 'deployment', `deploymentgrid-demo-${place}`, '-o', path)
  }
  await cluster.waitFor('the template of Beijing', async () =>
    (await imageOf('beijing')) === 'superedge/echoserver:2.3' ? true : undefined,
  )
  await untilRolledOut(cluster, 'beijing')
  assert.equal(await imageOf('shanghai'), 'superedge/echoserver:2.2')
}

async function grows(cluster: ClusterOnHosts, places: Places): Promise<void> {
  const [node] = places.late
  assert.ok(node)
  assert.deepEqual(await whoAnswers(node.host, service), ['nobody: ECONNREFUSED'])
  await label(cluster, places, 'late')
  await untilRolledOut(cluster, 'late')
  const pods = await podsOf(cluster, places.late)
  for (const { host } of places.late) await untilAnswers(cluster, { host, name: service }, pods)
}

async function seeEachOther(cluster: ClusterOnHosts, places: Places): Promise<void> {
  const path = '{.status.conditions[?(@.type=="SeenByNeighbours")].message}'
  for (const [node, other] of [places.beijing, places.beijing.toReversed()]) {
    assert.ok(node && other)
    await cluster.waitFor(`${other.name} to see ${node.name}`, async () => {
      const shown = await cluster.kubectl('get', 'node', node.name, '-o', `jsonpath=${path}`)
      return shown === `seen by ${other.name}; missed by nobody` ? true : undefined
    })
  }
}

/** The control plane is away from all places. One node of Beijing loses its power, and comes back. */
async function goesOnAlone(cluster: ClusterOnHosts, places: Places): Promise<void> {
  const [node, other] = places.beijing
  assert.ok(node && other)
  const pods = await podsOf(cluster, places.beijing)
  const podsOfOther = await podsOf(cluster, [other])
  await cluster.waitFor('the pods in the store of the node', async () => {
    const path = join(cluster.directory, node.name, 'service-network.json')
    const text = await readFile(path, 'utf8')
    return pods.every((pod) => text.includes(pod)) ? true : undefined
  })
  await cluster.site.kill()
  await node.host.reboot()
  // Its neighbour leaves out the pods of the node that is off.
  await untilAnswers(cluster, { host: other.host, name: service }, podsOfOther)
  await node.role.start()
  for (const { host } of places.beijing) await untilAnswers(cluster, { host, name: service }, pods)
  await cluster.site.start()
  await cluster.untilServing()
  await cluster.untilNodeReady(node.name)
  for (const { host } of places.beijing) await untilAnswers(cluster, { host, name: service }, pods)
}

async function leavesNothing(cluster: ClusterOnHosts): Promise<void> {
  const kinds = 'deploymentgrids,statefulsetgrids,servicegrids'
  await cluster.kubectl('delete', kinds, '--all')
  await cluster.waitFor('the children to go', async () => {
    const children = 'deployments,statefulsets,pods'
    const rest = await cluster.kubectl('get', children, '-o', 'name')
    return rest === '' ? true : undefined
  })
  assert.equal(
    await cluster.kubectl('get', 'services', '-l', 'superedge.io/grid-selector', '-o', 'name'),
    '',
  )
}
