/**
 * Runs the part of `bench main` that needs its own host (network, mounts, /run): starts the roles as `skerry
 * up` does and measures them. Prints the figures as one JSON array. Arguments: the bundle's entry, a
 * directory on a real disk, the number of rounds.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClusterClient, resources } from '@skerry/client'
import { systemClock } from '@skerry/base'
import { openAdminCluster, type AdminCluster } from '../../roles/admin/admin-cluster.ts'
import { createJoinToken } from '../../roles/admin/join-token.ts'
import { containerdSocket } from '../../roles/node/node-containerd.ts'
import { examplePod, runningStatus } from './measure/example-pod.ts'
import { alone, median, type Figure } from './measure/figure.ts'
import { measurePodStart } from './pod-start.ts'
import { memoryOf, startRoleProcess, type RoleProcess } from '../processes/role-process.ts'

interface Setting {
  readonly program: string
  readonly directory: string
  readonly rounds: number
}

const runDir = '/run/skerry/node'
/** The maximum time for a role to calm down after work. The engine starts to return memory after 30 s. */
const settleMs = 40_000
const deadlineMs = 600_000

async function measure(setting: Setting, signal: AbortSignal): Promise<Figure[]> {
  await mkdir(setting.directory, { recursive: true })
  return [
    ...(await measureStart(setting)),
    ...(await measureControlPlane(setting, signal)),
    ...(await measureNode(setting, signal)),
  ]
}

function start(
  setting: Setting,
  role: string,
  args: readonly string[],
  directory = setting.directory,
): Promise<RoleProcess> {
  const compileCache = join(setting.directory, 'compile-cache')
  return startRoleProcess({ program: setting.program, role, args, directory, compileCache })
}

function siteArgs(dataDir: string): string[] {
  return ['--data-dir', dataDir, '--port', '6443', '--name', 'bench']
}

/** The first start makes keys and fills caches; the warm ones are counted. */
async function measureStart(setting: Setting): Promise<Figure[]> {
  const dataDir = join(setting.directory, 'start')
  const times: number[] = []
  for (let round = 0; round <= setting.rounds; round++) {
    await using site = await start(setting, 'site', siteArgs(dataDir))
    times.push(site.readyMs)
  }
  const [first = 0, ...warm] = times
  return [
    alone('site.start-to-api-ready.warm', 'ms', median(warm), 1_000),
    alone('site.start-to-api-ready.first', 'ms', first, null),
  ]
}

async function measureControlPlane(setting: Setting, signal: AbortSignal): Promise<Figure[]> {
  const dataDir = join(setting.directory, 'plane')
  await using site = await start(setting, 'site', siteArgs(dataDir))
  const { cluster } = await openAdminCluster(join(dataDir, 'admin.kubeconfig'))
  const empty = await settled(site)
  await addNodeObject(cluster, 'n1', signal)
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  for (let index = 0; index < 100; index++) {
    const pod = examplePod(`pod-${index}`, 'n1')
    const created = await cluster.resource(resources.pods).create(pod, signal)
    await cluster
      .resource(resources.pods)
      .updateStatus({ ...created, status: runningStatus(`10.42.0.${index + 2}`, now) }, signal)
  }
  const full = await settled(site)
  return [
    alone('site.memory.empty', 'MB', empty.resident, null),
    alone('site.memory.100-pods', 'MB', full.resident, 150),
    alone('site.memory.100-pods.anonymous', 'MB', full.anonymous, null),
  ]
}

/** Creates the pods' node, without which the controllers would end them. */
async function addNodeObject(
  cluster: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await cluster
    .resource(resources.nodes)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name } }, signal)
}

async function measureNode(setting: Setting, signal: AbortSignal): Promise<Figure[]> {
  const dataDir = join(setting.directory, 'with-node')
  await using _site = await start(setting, 'site', siteArgs(dataDir))
  const admin = await openAdminCluster(join(dataDir, 'admin.kubeconfig'))
  const args = await nodeArgs(setting, admin, signal)
  const figures: Figure[] = []
  {
    await using node = await start(setting, 'node', args)
    await nodeReady(admin.cluster, signal)
    figures.push(alone('node.memory.empty', 'MB', (await settled(node)).resident, null))
    figures.push(
      await measurePodStart(
        admin.cluster,
        {
          rounds: setting.rounds,
          containerdSocket: containerdSocket(runDir),
          logDirectory: join(setting.directory, 'bare-logs'),
        },
        signal,
      ),
    )
    await runPods(admin.cluster, 20, signal)
    const full = await settled(node)
    figures.push(
      alone('node.memory.20-pods', 'MB', full.resident, 80),
      alone('node.memory.20-pods.anonymous', 'MB', full.anonymous, null),
    )
  }
  // Starts again, because joining loads code that a joined node does not need.
  await using node = await start(setting, 'node', [...args, '--stop-pods'])
  const restarted = await settled(node)
  figures.push(alone('node.memory.20-pods.restarted', 'MB', restarted.resident, 80))
  return figures
}

async function nodeArgs(
  { directory }: Setting,
  admin: AdminCluster,
  signal: AbortSignal,
): Promise<string[]> {
  const server = admin.server
  const request = { server, caPem: admin.caPem, ttlSeconds: 3_600, description: 'bench' }
  const created = await createJoinToken(admin.cluster, request, { clock: systemClock }, signal)
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, created.token, { mode: 0o600 })
  const place = ['--data-dir', join(directory, 'node'), '--run-dir', runDir, '--node-name', 'n1']
  return [...place, '--server', server, '--token-file', tokenFile, '--ca-hash', created.caHash]
}

async function nodeReady(cluster: ClusterClient, signal: AbortSignal): Promise<void> {
  const nodes = cluster.resource(resources.nodes)
  for await (const event of nodes.watch({ sendInitialEvents: true }, signal)) {
    if (event.type === 'BOOKMARK') continue
    const conditions = event.object.status?.conditions ?? []
    if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return
  }
}

async function runPods(cluster: ClusterClient, count: number, signal: AbortSignal): Promise<void> {
  const pods = cluster.resource(resources.pods)
  for (let index = 0; index < count; index++) {
    await pods.create(examplePod(`resident-${index}`), signal)
  }
  const running = new Set<string>()
  for await (const event of pods.watch({ namespace: 'default', sendInitialEvents: true }, signal)) {
    if (event.type === 'BOOKMARK' || event.object.status?.phase !== 'Running') continue
    const { name = '' } = event.object.metadata
    if (name.startsWith('resident-')) running.add(name)
    if (running.size === count) return
  }
}

async function settled(role: RoleProcess) {
  await sleep(settleMs)
  return memoryOf(role.pid)
}

const [program = '', directory = '', rounds = '5'] = process.argv.slice(2)
const signal = AbortSignal.timeout(deadlineMs)
const figures = await measure({ program, directory, rounds: Number(rounds) }, signal)
process.stdout.write(JSON.stringify(figures))
