/** Tests the example application on a site with one node, as seen by a client on another host. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestHost } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { containerStates, type ContainerStates } from './container-states.ts'
import { fetchPage, fetchText, visitWhile, type Page } from './guestbook-page.ts'
import { startPortForward } from './port-forward.ts'
import { whyNot } from './prerequisites.ts'

const manifest = join(import.meta.dirname, '../..', 'examples', 'guestbook', 'guestbook.yaml')
const workloads = ['-n', 'guestbook', '-l', 'app in (web,redis)'] as const

interface Stage {
  cluster: ClusterOnHosts
  node: EdgeNode
  client: TestHost
  fetch: () => Promise<Page>
}

test('the guestbook on one node', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  const node = await cluster.addNode(1)
  const client = await cluster.host(9)
  const fetch = (): Promise<Page> => fetchPage(client, `${node.host.address}:30080`)
  const stage: Stage = { cluster, node, client, fetch }
  await t.test('becomes ready as it is', () => becomesReady(stage))
  await t.test('serves its page to another host and counts in Redis', () => counts(stage))
  await t.test('serves its page through port-forward', () => forwards(stage))
  await t.test('is served by all pods when scaled', () => scales(stage))
  await t.test('rolls to a new version and back without a failed visit', () => rolls(stage))
  await t.test('sees a changed ConfigMap in a running pod', () => seesConfig(stage))
  await t.test('keeps its data when the pod is deleted', () => keepsData(stage))
  await t.test('goes on while the site is killed', () => survivesSite(stage))
  await t.test('goes on while the node agent is killed', () => survivesNode(stage))
  await t.test('goes on while containerd is killed', () => survivesContainerd(stage))
  await t.test('had its CronJob run', () => cronJobRan(stage))
})

async function becomesReady({ cluster }: Stage): Promise<void> {
  await cluster.kubectl('apply', '-f', manifest)
  await untilRolledOut(cluster, 'statefulset/redis')
  await untilRolledOut(cluster, 'deployment/web')
}

async function untilRolledOut(cluster: ClusterOnHosts, name: string): Promise<void> {
  const args = ['rollout', 'status', '-n', 'guestbook', name, '--timeout=60s']
  const result = await cluster.tryKubectl(args)
  assert.equal(result.exitCode, 0, `${result.stderr}\n${await cluster.diagnose()}`)
}

async function counts({ cluster, fetch }: Stage): Promise<void> {
  const first = await fetch()
  const second = await fetch()
  assert.equal(first.greeting, 'Hello from the edge')
  assert.equal(first.version, 'v1')
  assert.equal(second.visits, first.visits + 1)
  assert.equal(await visitsInRedis(cluster), second.visits)
}

async function visitsInRedis(cluster: ClusterOnHosts): Promise<number> {
  const script = 'redis-cli -a "$REDIS_PASSWORD" --no-auth-warning GET visits'
  return Number(
    await cluster.kubectl('exec', '-n', 'guestbook', 'redis-0', '--', 'sh', '-c', script),
  )
}

async function forwards({ cluster, fetch }: Stage): Promise<void> {
  const before = await fetch()
  await using forward = await startPortForward(cluster, ['-n', 'guestbook', 'service/web', ':80'])
  const page = await fetchPage(cluster.siteHost, `127.0.0.1:${forward.port}`)
  assert.equal(page.visits, before.visits + 1)
}

async function scales({ cluster, fetch }: Stage): Promise<void> {
  await cluster.kubectl('scale', '-n', 'guestbook', 'deployment/web', '--replicas=4')
  await untilRolledOut(cluster, 'deployment/web')
  const names = await cluster.kubectl(
    'get',
    'pods',
    '-n',
    'guestbook',
    '-l',
    'app=web',
    '-o',
    'name',
  )
  const pods = names
    .trim()
    .split('\n')
    .map((name) => name.replace('pod/', ''))
  const served = new Set<string>()
  await cluster.waitFor('every pod to serve the page', async () => {
    served.add((await fetch()).pod)
    return served.size === 4 ? true : undefined
  })
  assert.deepEqual([...served].sort(), pods.sort())
  await cluster.kubectl('scale', '-n', 'guestbook', 'deployment/web', '--replicas=2')
  const isScaled = '--for=jsonpath={.status.replicas}=2'
  await cluster.kubectl('wait', '-n', 'guestbook', 'deployment/web', '--timeout=60s', isScaled)
}

async function rolls({ cluster, fetch }: Stage): Promise<void> {
  const { pages, failures } = await visitWhile(fetch, async () => {
    const image = 'web=skerry-examples/guestbook:v2'
    await cluster.kubectl('set', 'image', '-n', 'guestbook', 'deployment/web', image)
    await untilRolledOut(cluster, 'deployment/web')
    await untilVersion('v2', cluster, fetch)
    await cluster.kubectl('rollout', 'undo', '-n', 'guestbook', 'deployment/web')
    await untilRolledOut(cluster, 'deployment/web')
    await untilVersion('v1', cluster, fetch)
  })
  assert.deepEqual(failures, [])
  assert.deepEqual(new Set(pages.map((page) => page.version)), new Set(['v1', 'v2']))
}

/** The rollout ends in the API; the service's rules on the node follow a moment later. */
async function untilVersion(
  version: string,
  cluster: ClusterOnHosts,
  fetch: () => Promise<Page>,
): Promise<void> {
  await cluster.waitFor(`ten pages in a row of ${version}`, async () => {
    for (let count = 0; count < 10; count++) {
      if ((await fetch()).version !== version) return undefined
    }
    return true
  })
}

async function seesConfig({ cluster }: Stage): Promise<void> {
  const before = await containerStates(cluster, ...workloads)
  const patch = JSON.stringify({ data: { greeting: 'Good evening' } })
  await cluster.kubectl('patch', '-n', 'guestbook', 'configmap/guestbook', '-p', patch)
  const read = ['exec', '-n', 'guestbook', 'deployment/web', '--', 'cat', '/etc/guestbook/greeting']
  // A kubelet looks once a minute, with some jitter, and may have a second of delay on top.
  await cluster.waitFor(
    'the greeting in the pod to change',
    async () => ((await cluster.kubectl(...read)) === 'Good evening' ? true : undefined),
    { timeoutMs: 100_000 },
  )
  assert.deepEqual(await containerStates(cluster, ...workloads), before)
}

async function keepsData({ cluster, fetch }: Stage): Promise<void> {
  const uid = ['get', 'pod', '-n', 'guestbook', 'redis-0', '-o', 'jsonpath={.metadata.uid}']
  const before = { visits: (await fetch()).visits, uid: await cluster.kubectl(...uid) }
  await cluster.kubectl('delete', 'pod', '-n', 'guestbook', 'redis-0')
  await cluster.waitFor('another redis-0', async () =>
    (await cluster.kubectl(...uid)) === before.uid ? undefined : true,
  )
  await untilRolledOut(cluster, 'statefulset/redis')
  const page = await cluster.waitFor('the page to count again', fetch)
  assert.equal(page.visits, before.visits + 1)
}

async function survivesSite(stage: Stage): Promise<void> {
  const { cluster, fetch } = stage
  await survives(stage, async () => {
    await cluster.site.kill()
    await threeVisits(fetch)
    await cluster.site.start()
    await cluster.untilServing()
    await cluster.untilNodeReady(stage.node.name)
  })
}

/**
 * Kills the node agent. It answers the node's DNS, so the page, which looks Redis up, waits for its return;
 * answers without a lookup continue meanwhile.
 */
async function survivesNode(stage: Stage): Promise<void> {
  const { cluster, node, client, fetch } = stage
  const before = await containerStates(cluster, ...workloads)
  const visits = (await fetch()).visits
  await node.role.kill()
  for (let count = 0; count < 3; count++) {
    assert.equal(await fetchText(client, `http://${node.host.address}:30080/healthz`), 'ok\n')
  }
  await node.role.start()
  const page = await cluster.waitFor('the page to be served again', fetch)
  assert.ok(page.visits > visits)
  await survives(stage, async () => undefined)
  assert.deepEqual(await containerStates(cluster, ...workloads), before)
}

async function survivesContainerd(stage: Stage): Promise<void> {
  const { cluster, node } = stage
  const readPid = async (): Promise<number> => {
    const path = '/run/skerry/node/containerd/containerd.pid'
    const { stdout } = await node.host.run(['cat', path])
    // Our own pid file holds this JSON. Another text fails the kill below.
    return (JSON.parse(stdout) as { pid: number }).pid
  }
  await survives(stage, async () => {
    const killed = await readPid()
    process.kill(killed, 'SIGKILL')
    await cluster.waitFor('another containerd', async () =>
      (await readPid()) === killed ? undefined : true,
    )
  })
}

/**
 * The disturbance fails no visit, restarts no container, loses no count; and afterwards the
 * cluster is able to act again.
 */
async function survives(stage: Stage, disturb: () => Promise<void>): Promise<void> {
  const { cluster, fetch } = stage
  const before = await containerStates(cluster, ...workloads)
  const { pages, failures } = await visitWhile(fetch, async () => {
    await disturb()
    await startsPod(cluster)
  })
  assert.deepEqual(failures, [])
  assert.deepEqual(gapsOf(pages), [])
  assert.deepEqual(await containerStates(cluster, ...workloads), before satisfies ContainerStates)
  assert.equal(await visitsInRedis(cluster), pages.at(-1)?.visits)
}

async function threeVisits(fetch: () => Promise<Page>): Promise<void> {
  for (let count = 0; count < 3; count++) await fetch()
}

/** A new pod runs to its end: API, controllers, scheduler, node and containerd all work. */
async function startsPod(cluster: ClusterOnHosts): Promise<void> {
  await cluster.waitFor('a pod to run to its end', async () => {
    const run = ['run', 'probe', '-n', 'default', '--image=skerry-examples/redis:7.0']
    const once = ['--rm', '-i', '--quiet', '--restart=Never', '--', 'echo', 'works']
    const output = await cluster.kubectl(...run, ...once)
    return output.includes('works') ? true : undefined
  })
}

/** Each visit counts one; those of others in between make the difference larger, never smaller. */
function gapsOf(pages: readonly Page[]): string[] {
  return pages.flatMap((page, index) => {
    const previous = pages[index - 1]
    if (previous === undefined || page.visits > previous.visits) return []
    return [`${previous.visits} was followed by ${page.visits}`]
  })
}

async function cronJobRan({ cluster }: Stage): Promise<void> {
  await cluster.waitFor(
    'a job of the CronJob to succeed',
    async () => {
      const path =
        '{range .items[?(@.status.succeeded==1)]}{.metadata.ownerReferences[0].name}{end}'
      const owners = await cluster.kubectl(
        'get',
        'jobs',
        '-n',
        'guestbook',
        '-o',
        `jsonpath=${path}`,
      )
      return owners.includes('snapshot') ? true : undefined
    },
    { timeoutMs: 90_000 },
  )
}
