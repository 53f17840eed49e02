/** A bank with branches: nodes of one site, each branch a cluster on the hub, by policies of the hub. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestHost } from '@skerry/testing'
import { startCloud, type Cloud } from './cloud.ts'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { nginxArchives, repositories } from './nginx-archives.ts'
import { whyNot } from './prerequisites.ts'
import { untilHubSays } from './until-hub-says.ts'

const [headquarters, ownRepository] = repositories

/** The numbers of the hosts of each branch's nodes. */
const branches = { east: [2, 4], west: [5, 6], north: [7, 8] } as const
type Branch = keyof typeof branches

const application = `
apiVersion: v1
kind: Namespace
metadata: { name: edge }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: edge }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: web
          image: ${headquarters}:1
          readinessProbe: { httpGet: { path: /image, port: 8080 }, periodSeconds: 1 }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: ledger, namespace: edge }
spec:
  replicas: 1
  serviceName: ledger
  selector: { matchLabels: { app: ledger } }
  template:
    metadata: { labels: { app: ledger } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: ledger
          image: ${headquarters}:1
          command: [sh, -c, 'hostname >> /data/openings; exec nginx -e stderr -c /etc/nginx.conf']
          volumeMounts: [{ name: data, mountPath: /data }]
          securityContext: { runAsUser: 0 }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        resources: { requests: { storage: 8Mi } }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: edge }
spec:
  selector: { app: web }
  ports: [{ port: 80, targetPort: 8080 }]
`

/**
 * The policies: three replicas, two of them in the east; the west has its own images and the whole deployment
 * of the rest.
 */
const policies = `
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: images, namespace: edge }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: web }]
  overrideRules:
    - targetCluster: { clusterNames: [bank-west] }
      overriders:
        imageOverrider: [{ component: Repository, operator: replace, value: ${ownRepository} }]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: web, namespace: edge }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: web }]
  placement:
    clusterAffinity: { clusterNames: [bank-east, bank-west] }
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
          - { targetCluster: { clusterNames: [bank-east] }, weight: 2 }
          - { targetCluster: { clusterNames: [bank-west] }, weight: 1 }
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: others, namespace: edge }
spec:
  resourceSelectors:
    - { apiVersion: apps/v1, kind: StatefulSet, name: ledger }
    - { apiVersion: v1, kind: Service, name: web }
  placement:
    clusterAffinity: { clusterNames: [bank-east, bank-west] }
`

test('branches of a bank', { skip: await whyNot(), timeout: 600_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start({ archives: await nginxArchives() })
  const flags = ['--virtual-clusters']
  const cloud = await startCloud(cluster, { name: 'bank', hostNumber: 3, flags })
  const bank: Bank = {
    cluster,
    cloud,
    hub: await hubKubectl(cloud),
    nodes: await openBranches(cluster),
  }
  await t.test('each branch is a cluster on the hub', () => registers(bank))
  await t.test('two branches get the objects that policies send them, on their own nodes', () =>
    places(bank),
  )
  await t.test('a branch is reached as a cluster of its own', () => shows(bank))
  await t.test('one image changed on the hub upgrades both', () => upgrades(bank))
  await t.test('a branch that was cut off catches up', () => catchesUp(bank))
  await t.test('objects deleted on the hub leave nothing behind', () => leaves(bank))
})

type Nodes = Readonly<Record<Branch, readonly { readonly name: string; readonly host: TestHost }[]>>

interface Bank {
  readonly cluster: ClusterOnHosts
  readonly cloud: Cloud
  /** Runs kubectl as the hub's administrator, against the hub itself or one of its clusters. */
  readonly hub: (
    args: readonly string[],
    options?: { input?: string; cluster?: string },
  ) => Promise<string>
  readonly nodes: Nodes
}

/** Adds six nodes, and a branch for each value of their label. */
async function openBranches(cluster: ClusterOnHosts): Promise<Nodes> {
  const nodes = { east: [], west: [], north: [] } as { -readonly [B in Branch]: Nodes[B][number][] }
  await Promise.all(
    (['east', 'west', 'north'] as const).map(async (branch) => {
      for (const number of branches[branch]) {
        const { name, host } = await cluster.addNode(number)
        await cluster.kubectl('label', 'node', name, `branch=${branch}`)
        nodes[branch].push({ name, host })
      }
    }),
  )
  await cluster.waitFor('the kind of sets', () =>
    cluster.kubectl('wait', 'crd/virtualclustersets.edge.skerry.io', '--for=condition=Established'),
  )
  await cluster.apply(`
apiVersion: edge.skerry.io/v1alpha1
kind: VirtualClusterSet
metadata: { name: branches }
spec:
  source: { label: { key: branch } }
`)
  return nodes
}

async function hubKubectl({ cluster, directory, host, env }: Cloud): Promise<Bank['hub']> {
  const [program = ''] = cluster.kubectlCommand([])
  const admin = join(directory, 'admin.kubeconfig')
  const text = await readFile(admin, 'utf8')
  const [, server = ''] = /server: (\S+)/.exec(text) ?? []
  return async (args, { input, cluster: name } = {}) => {
    const path = name === undefined ? admin : join(cluster.directory, `${name}.kubeconfig`)
    if (name !== undefined)
      await writeFile(path, text.replace(server, `${server}/clusters/${name}`))
    const command = [program, '--kubeconfig', path, ...args]
    const options = { timeoutMs: 120_000, env, ...(input === undefined ? {} : { input }) }
    const { exitCode, stdout, stderr } = await host.run(command, options)
    assert.equal(exitCode, 0, `kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }
}

async function registers({ cluster, hub }: Bank): Promise<void> {
  for (const branch of ['east', 'west', 'north'] as const) {
    await untilHubSays(cluster, hub, {
      args: ['get', 'cluster', `bank-${branch}`],
      path: '{.status.conditions[?(@.type=="Ready")].status} {.status.nodeSummary.readyNum}',
      says: `True ${branches[branch].length}`,
    })
  }
}

async function places(bank: Bank): Promise<void> {
  const { cluster, hub } = bank
  await hub(['apply', '-f', '-'], { input: application })
  await hub(['apply', '-f', '-'], { input: policies })
  await untilRolledOut(bank, '1')
  await cluster.waitFor('the ledgers', async () => {
    const pods = await podsOf(bank, 'ledger')
    return pods.length === 2 && pods.every(({ ready }) => ready === 'true') ? true : undefined
  })
  await hasOwnNodes(bank)
  const namespaces = await cluster.kubectl(
    'get',
    'namespaces',
    '-l',
    'edge.skerry.io/namespace=edge',
    '-o',
    'name',
  )
  assert.deepEqual(namespaces.trim().split('\n').toSorted(), [
    'namespace/edge-bank-east',
    'namespace/edge-bank-west',
  ])
  // In each branch, its own service leads to its own pods.
  for (const [branch, image] of [
    ['east', `${headquarters}:1`],
    ['west', `${ownRepository}:1`],
  ] as const) {
    const [pod] = (await podsOf(bank, 'ledger')).filter((each) => each.branch === branch)
    assert.ok(pod)
    const read = [
      'exec',
      pod.name,
      '-n',
      pod.namespace,
      '--',
      'wget',
      '-q',
      '-O',
      '-',
      'http://web/image',
    ]
    assert.equal(
      await cluster.waitFor(`the service of ${branch}`, () => cluster.kubectl(...read)),
      image,
    )
  }
}

/** Shows that a branch lists its own namespaces and nodes, and none of the others. */
async function shows({ hub, nodes }: Bank): Promise<void> {
  const at = { cluster: 'bank-east' }
  const names = (text: string): string[] => text.trim().split('\n').toSorted()
  assert.deepEqual(
    names(await hub(['get', 'nodes', '-o', 'name'], at)),
    nodes.east.map(({ name }) => `node/${name}`).toSorted(),
  )
  assert.match(
    await hub(['get', 'pods', '-n', 'edge', '-l', 'app=web', '-o', 'wide'], at),
    /Running/,
  )
  assert.doesNotMatch(await hub(['get', 'pods', '-A', '-o', 'wide'], at), /west|edge-bank/)
  assert.equal(
    await hub(['exec', '-n', 'edge', 'ledger-0', '--', 'cat', '/data/openings'], at),
    'ledger-0\n',
  )
}

async function upgrades(bank: Bank): Promise<void> {
  await bank.hub(['set', 'image', 'deployment/web', '-n', 'edge', `web=${headquarters}:2`])
  await untilRolledOut(bank, '2')
  await hasOwnNodes(bank)
}

/** Running pods continue; changes made meanwhile arrive when the link is back. */
async function catchesUp(bank: Bank): Promise<void> {
  const { hub, nodes } = bank
  const before = (await podsOf(bank, 'web')).filter(({ branch }) => branch === 'west')
  for (const { host } of nodes.west) await host.cut()
  await hub(['set', 'image', 'deployment/web', '-n', 'edge', `web=${headquarters}:1`])
  await untilBranchServes(bank, 'east', `${headquarters}:1`)
  assert.equal(await served(bank, before), `${ownRepository}:2`)
  for (const { host } of nodes.west) await host.restore()
  await untilRolledOut(bank, '1')
  await hasOwnNodes(bank)
  const after = new Set((await podsOf(bank, 'web')).map(({ name }) => name))
  assert.ok(before.every(({ name }) => !after.has(name)))
}

/** Returns the pod's answer on its own node. */
async function served({ nodes }: Bank, [pod]: readonly BranchPod[]): Promise<string> {
  const host = nodes.west.find(({ name }) => name === pod?.node)?.host
  assert.ok(pod && host)
  const answer = await host.run(['busybox', 'wget', '-q', '-O', '-', `http://${pod.ip}:8080/image`])
  return answer.stdout
}

async function leaves(bank: Bank): Promise<void> {
  const { cluster, hub } = bank
  await hub(['delete', 'namespace', 'edge', '--timeout=120s'])
  await cluster.waitFor('the namespaces of the branches to go', async () => {
    const left = await cluster.kubectl(
      'get',
      'namespaces',
      '-l',
      'edge.skerry.io/virtual-cluster',
      '-o',
      'name',
    )
    return left.includes('edge-bank') ? undefined : true
  })
}

interface BranchPod {
  name: string
  namespace: string
  branch: Branch | ''
  node: string
  image: string
  ready: string
  ip: string
}

/** Lists the site's pods that are not being deleted. */
async function podsOf({ cluster, nodes }: Bank, app: string): Promise<BranchPod[]> {
  const fields = [
    '.metadata.name',
    '.metadata.namespace',
    '.spec.nodeName',
    '.spec.containers[0].image',
    '.status.containerStatuses[0].ready',
    '.status.podIP',
    '.metadata.deletionTimestamp',
  ]
  const path = `{range .items[*]}${fields.map((field) => `{${field}}`).join('|')}{"\\n"}{end}`
  const text = await cluster.kubectl(
    'get',
    'pods',
    '-A',
    '-l',
    `app=${app}`,
    '-o',
    `jsonpath=${path}`,
  )
  const all = text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('|'))
  const branchOf = (node: string): Branch | '' =>
    (['east', 'west', 'north'] as const).find((branch) =>
      nodes[branch].some(({ name }) => name === node),
    ) ?? ''
  return all
    .filter(([, , , , , , leaving = '']) => leaving === '')
    .map(([name = '', namespace = '', node = '', image = '', ready = '', ip = '']) => ({
      name,
      namespace,
      node,
      image,
      ready,
      ip,
      branch: branchOf(node),
    }))
}

async function hasOwnNodes(bank: Bank): Promise<void> {
  const pods = [...(await podsOf(bank, 'web')), ...(await podsOf(bank, 'ledger'))]
  const where = pods.map(({ namespace, branch }) => `${namespace} ${branch}`)
  assert.deepEqual(
    [...new Set(where)].toSorted(),
    ['edge-bank-east east', 'edge-bank-west west'],
    'each branch has its pods, and the third has none',
  )
}

async function untilBranchServes(
  bank: Bank,
  branch: Branch,
  image: string,
  count = 2,
): Promise<void> {
  await bank.cluster.waitFor(`${branch} to have ${count} of ${image}`, async () => {
    const pods = (await podsOf(bank, 'web')).filter(
      ({ namespace }) => namespace === `edge-bank-${branch}`,
    )
    const isDone = pods.every((pod) => pod.image.endsWith(image) && pod.ready === 'true')
    return isDone && pods.length === count ? true : undefined
  })
}

/** Waits until both branches serve it, and the Deployment on the hub reports it. */
async function untilRolledOut(bank: Bank, tag: string): Promise<void> {
  await untilBranchServes(bank, 'east', `${headquarters}:${tag}`, 2)
  await untilBranchServes(bank, 'west', `${ownRepository}:${tag}`, 1)
  await bank.hub(['rollout', 'status', 'deployment/web', '-n', 'edge', '--timeout=60s'])
  await untilHubSays(bank.cluster, bank.hub, {
    args: ['get', 'deployment', 'web', '-n', 'edge'],
    path: '{.status.readyReplicas} {.status.updatedReplicas}',
    says: '3 3',
  })
}
