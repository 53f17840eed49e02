/** Tests that the application returns with the power of a node whose control plane is unreachable. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestHost } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { skerryCommand, skerryEnv } from './role-process.ts'
import { containerStates } from './container-states.ts'
import { fetchPage, type Page } from './guestbook-page.ts'
import {
  asPod,
  listsSettings,
  makesSettings,
  readsSettings,
  settingsReader,
} from './settings-reader.ts'
import { whyNot } from './prerequisites.ts'

const manifest = join(import.meta.dirname, '../..', 'examples', 'guestbook', 'guestbook.yaml')
const workloads = ['-n', 'guestbook', '-l', 'app in (web,redis)'] as const

test(
  'a reboot while the control plane is away',
  { skip: await whyNot(), timeout: 400_000 },
  async (t) => {
    await using cluster = await ClusterOnHosts.start()
    const node = await cluster.addNode(2, ['--local-api'])
    const client = await cluster.host(3)
    const fetch = (): Promise<Page> => fetchPage(client, `${node.host.address}:30080`)
    await cluster.kubectl('apply', '-f', manifest)
    await cluster.kubectl(
      'rollout',
      'status',
      '-n',
      'guestbook',
      'statefulset/redis',
      '--timeout=60s',
    )
    await cluster.kubectl('rollout', 'status', '-n', 'guestbook', 'deployment/web', '--timeout=60s')
    await cluster.apply(settingsReader)
    await cluster.kubectl('wait', 'pod/reader', '--for=condition=Ready', '--timeout=60s')
    const color = await cluster.waitFor('the settings', () => readsSettings(cluster, node.host))
    assert.equal(color, 'blue')
    const before = await cluster.waitFor('the page', fetch)
    const addresses = await podAddresses(cluster)
    await untilOnDisk(cluster, node)
    await cluster.waitFor('the list through the node', () => listsSettings(cluster, node.host))
    await untilMayWrite(cluster, node)
    await t.test('a drill cuts the link for real, and nothing breaks', async () => {
      const directories = ['--data-dir', join(cluster.directory, node.name)]
      const drill = ['drill', '--cut', '3s', ...directories, '-o', 'json']
      const { stdout, stderr } = await node.host.run([...skerryCommand, ...drill], {
        env: skerryEnv,
      })
      assert.equal(stderr, '')
      // The command prints a list of these.
      const findings = JSON.parse(stdout) as {
        subject: string
        result: string
        reasons: string[]
      }[]
      const subjects = new Set(findings.map(({ subject }) => subject))
      for (const each of ['node', 'DNS', 'local API', 'default/reader'])
        assert.ok(subjects.has(each))
      assert.deepEqual(
        findings.filter(({ result }) => result !== 'goes on'),
        [],
      )
      assert.equal(
        (await node.host.run(['nft', 'list', 'table', 'inet', 'skerry_drill'])).exitCode,
        1,
      )
    })
    await cluster.siteHost.cut()
    await node.host.reboot()
    await node.role.start()
    let tasks = new Set<string>()
    await t.test('pods, service addresses, names and data are there again', async () => {
      const page = await cluster.waitFor('the page after the reboot', fetch)
      assert.equal(page.visits, before.visits + 1)
      await untilBothServe(cluster, fetch)
      tasks = await runningTasks(node.host)
    })
    await t.test('a pod reads its settings from the API of its node', async () => {
      const read = () => readsSettings(cluster, node.host)
      assert.equal(await cluster.waitFor('the settings from the node', read), 'blue')
    })
    await t.test(
      'a pod writes through its node, and the write waits for the control plane',
      async () => {
        const write = () => makesSettings(cluster, node.host, 'made-away')
        const made = await cluster.waitFor('the write on the node', write)
        assert.match(made, /"name":"made-away"/)
        const listed = await listsSettings(cluster, node.host)
        assert.match(listed ?? '', /"node\.skerry\.io\/not-accepted":"[^"]+"/)
      },
    )
    let signed = ''
    await t.test(
      'a pod reads logs and runs commands through its node, and gets tokens that the node has signed',
      async () => {
        const ask = (...words: string[]) =>
          cluster.waitFor(words.join(' '), () => asPod(cluster, node.host, words))
        assert.equal(await ask('logs', 'reader'), 'reader is here\n')
        assert.equal(await ask('exec', 'reader', '--', 'cat', '/etc/hostname'), 'reader\n')
        assert.equal(await ask('auth', 'can-i', 'create', 'configmaps'), 'yes\n')
        const uid = await ask('get', 'pod', 'reader', '-o', 'jsonpath={.metadata.uid}')
        const bound = ['--bound-object-kind=Pod', '--bound-object-name=reader']
        const token = await ask('create', 'token', 'reader', ...bound, `--bound-object-uid=${uid}`)
        signed = token.trim()
        const read = await asPod(cluster, node.host, ['get', 'configmap', 'settings'], signed)
        assert.match(read ?? '', /settings/)
      },
    )
    await t.test('nothing restarts when the control plane returns', async () => {
      await cluster.siteHost.restore()
      await untilHeardOf(cluster, node)
      const isReady = '--for=condition=Ready'
      await cluster.kubectl('wait', 'pods', ...workloads, isReady, '--timeout=60s')
      // The site may still have a pod as ready from before the cut. The containers' ids show that the node
      // has reported.
      const states = await cluster.waitFor('the node to tell of its containers', async () => {
        const told = await containerStates(cluster, ...workloads)
        return Object.values(told).every((state) => tasks.has(idOf(state))) ? told : undefined
      })
      assert.equal(Object.keys(states).length, 3)
      for (const [container, state] of Object.entries(states)) {
        assert.match(state, / restarted 1 times$/, `${container}: the reboot is its only restart`)
      }
      assert.deepEqual(await podAddresses(cluster), addresses)
      assert.ok((await fetch()).visits > before.visits)
    })
    await t.test('the control plane has the write of the pod', async () => {
      const path = 'jsonpath={.data.made}'
      const made = await cluster.waitFor('the write at the site', async () => {
        const found = await cluster.kubectl('get', 'configmap', '-o', 'name')
        if (!found.includes('made-away')) return undefined
        return cluster.kubectl('get', 'configmap', 'made-away', '-o', path)
      })
      assert.equal(made, 'away')
    })
    await t.test('the control plane accepts the token that the node has signed', async () => {
      const who = await cluster.waitFor('the answer', () =>
        asPod(cluster, node.host, ['auth', 'whoami', '-o', 'json'], signed),
      )
      assert.match(who, /"system:serviceaccount:default:reader"/)
      assert.match(who, /"authentication.skerry.io\/signed-by-node"/)
    })
    await t.test('the node takes new work', async () => {
      await cluster.kubectl('scale', '-n', 'guestbook', 'deployment/web', '--replicas=3')
      await cluster.kubectl(
        'rollout',
        'status',
        '-n',
        'guestbook',
        'deployment/web',
        '--timeout=60s',
      )
    })
  },
)

/** The power may go a moment after the pods are ready, but the node must have heard of them. */
async function untilOnDisk(cluster: ClusterOnHosts, node: EdgeNode): Promise<void> {
  const ips = await podAddresses(cluster)
  await cluster.waitFor('the services in the store of the node', async () => {
    const text = await readFile(join(cluster.directory, node.name, 'service-network.json'), 'utf8')
    return ips.every((ip) => text.includes(`"${ip}"`)) ? true : undefined
  })
}

/** The node asks the site in advance for what a policy permits, and keeps the answers. */
async function untilMayWrite(cluster: ClusterOnHosts, node: EdgeNode): Promise<void> {
  const directory = join(cluster.directory, node.name, 'local-api')
  await cluster.waitFor('the right to write in the store of the node', async () => {
    const files = ['copies.db', 'copies.db-wal'].map((name) => readFile(join(directory, name)))
    const rights = [
      '"create","","configmaps","default"',
      '"create","","serviceaccounts","default","","","","","token"',
      '"get","","","","","","","/apis"',
      '"kind":"APIGroupDiscoveryList"',
    ]
    const texts = await Promise.all(files)
    const isKnown = (right: string): boolean => texts.some((bytes) => bytes.includes(right))
    return rights.every(isKnown) ? true : undefined
  })
}

async function podAddresses(cluster: ClusterOnHosts): Promise<string[]> {
  const path = 'jsonpath={.items[*].status.podIP}'
  return (await cluster.kubectl('get', 'pods', ...workloads, '-o', path)).split(' ')
}

async function untilBothServe(cluster: ClusterOnHosts, fetch: () => Promise<Page>): Promise<void> {
  const served = new Set<string>()
  await cluster.waitFor('both web pods to serve', async () => {
    served.add((await fetch()).pod)
    return served.size === 2 ? true : undefined
  })
}

/** Returns the ids of the running containers from containerd itself, since the API is unreachable. */
async function runningTasks(host: TestHost): Promise<Set<string>> {
  const socket = '/run/skerry/node/containerd/containerd.sock'
  const { stdout } = await host.run(['ctr', '-a', socket, '-n', 'k8s.io', 'tasks', 'list'])
  return new Set(
    stdout
      .split('\n')
      .map((line) => line.split(/\s+/))
      .flatMap(([id, , state]) => (id !== undefined && state === 'RUNNING' ? [id] : [])),
  )
}

function idOf(state: string): string {
  return /^containerd:\/\/(\w+) /.exec(state)?.[1] ?? ''
}

/**
 * Waits for the new boot id, which shows that the node has reported. The site may still have it as Ready from
 * before the cut.
 */
async function untilHeardOf(cluster: ClusterOnHosts, node: EdgeNode): Promise<void> {
  const { stdout } = await node.host.run(['cat', '/proc/sys/kernel/random/boot_id'])
  const path = 'jsonpath={.status.nodeInfo.bootID}'
  await cluster.waitFor('the node to report its new boot', async () =>
    (await cluster.kubectl('get', 'node', node.name, '-o', path)) === stdout.trim()
      ? true
      : undefined,
  )
  await cluster.untilNodeReady(node.name)
}
