import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import type { HttpsTransportConfig } from '@skerry/client'
import { registrationResource } from '@skerry/fleet-kinds'
import { until } from '@skerry/testing'
import { startTestEdge } from '../../testing/scenes/test-fleet.ts'
import { startBalancer } from '../../testing/scenes/test-replicas.ts'
import { openAdminCluster } from '../admin/admin-cluster.ts'
import { runAgent } from '../agent/agent.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

/** Starts a hub as a separate process, on the existing state. */
async function spawnHub(directory: string) {
  const program = join(import.meta.dirname, '../../cmd/skerry.ts')
  const flags = ['--data-dir', directory, '--bind-address', '127.0.0.1', '--port', '0']
  const child = spawn(process.execPath, [program, 'hub', '--log-level', 'error', ...flags], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('The hub did not start'))),
  ])
  const { server, cluster } = await openAdminCluster(join(directory, 'admin.kubeconfig'))
  return {
    url: server,
    cluster,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async [Symbol.asyncDispose]() {
      await this.kill()
    },
  }
}

type SpawnedHub = Awaited<ReturnType<typeof spawnHub>>

async function register({ cluster }: SpawnedHub, server: string) {
  const { status } = await cluster.resource(registrationResource).create(
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'ClusterRegistration',
      metadata: {},
      spec: { clusterName: 'edge', server },
    },
    soon(),
  )
  assert.ok(status)
  return status
}

interface AgentPlace {
  readonly directory: string
  readonly hub: string
  readonly token: string
  readonly caHash: string
  readonly api: HttpsTransportConfig
}

function startAgent({ token, caHash, ...place }: AgentPlace): AsyncDisposable {
  const stop = linkedSignal(new AbortController().signal)
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const enrolment = { tokenFile: undefined, tokenText: token, caHash }
  const options = { ...place, clusterName: 'edge', enrolment }
  const running = runAgent(options, {
    ...deps,
    metrics: createMetrics(),
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await running
    },
  }
}

/** Waits until the cluster answers through the hub. */
async function untilReached({ cluster }: SpawnedHub): Promise<void> {
  const signal = soon()
  await until(async () => {
    const path = '/clusters/edge/version'
    const { status, body } = await cluster.raw({ method: 'GET', path, headers: {} }, signal)
    for await (const _ of body) continue
    return status === 200
  }, signal)
}

test('a hub that is killed comes back with its clusters, and their agents reconnect by themselves', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-hub-killed-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(directory, { recursive: true }))
  const data = join(directory, 'hub')
  const edge = stack.use(await startTestEdge())
  const first = stack.use(await spawnHub(data))
  // The address that agents know stays; behind it one hub follows the other.
  const target = { urls: [first.url] }
  const balancer = stack.use(await startBalancer(target))
  const { token, caHash } = await register(first, balancer.url)
  stack.use(
    startAgent({
      directory: join(directory, 'agent'),
      hub: balancer.url,
      token,
      caHash,
      api: edge.api,
    }),
  )
  await untilReached(first)
  const written = await register(first, 'https://later.example')
  await first.kill()
  const second = stack.use(await spawnHub(data))
  target.urls = [second.url]
  await untilReached(second)
  // The last write before the end was stored: the token of that time is known.
  const id = written.token.split('.')[0]
  const secrets = await second.cluster
    .resource({ group: '', version: 'v1', resource: 'secrets', isNamespaced: true })
    .list({ namespace: 'kube-system' }, soon())
  const names = secrets.items.map(({ metadata }) => metadata.name)
  assert.ok(names.includes(`bootstrap-token-${id}`), names.join())
})
