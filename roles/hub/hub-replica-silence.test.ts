import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readBody } from '@skerry/client'
import { startTestEtcd, whyNoEtcd, type TestEtcd, until } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const skip = await whyNoEtcd()
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const etcdPrefix = '/skerry/hub'

/** Starts a replica that can be stopped as by a power cut: it falls silent without closing its connections. */
async function spawnReplica(etcd: TestEtcd, replicaKeyFile: string) {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-hub-replica-'))
  const flags = ['--data-dir', directory, '--bind-address', '127.0.0.1', '--port', '0']
  const shared = ['--etcd-servers', etcd.endpoint, '--replica-key-file', replicaKeyFile]
  const program = join(import.meta.dirname, '../../cmd/skerry.ts')
  const child = spawn(
    process.execPath,
    [program, 'hub', '--log-level', 'error', ...flags, ...shared],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('The replica did not start'))),
  ])
  const config = await readFile(join(directory, 'admin.kubeconfig'), 'utf8')
  return {
    url: /server: (\S+)/.exec(config)?.[1] ?? '',
    fallSilent: () => void child.kill('SIGSTOP'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      await rm(directory, { recursive: true })
    },
  }
}

async function ask(fleet: TestHub): Promise<{ status: number; text: string }> {
  using transport = await fleet.as({ commonName: 'olga', organizations: ['system:masters'] })
  const path = '/clusters/edge/version'
  const answer = await transport.send({ method: 'GET', path, headers: {} }, soon())
  return { status: answer.status, text: String(await readBody(answer.body)) }
}

test(
  'a replica whose machine lost power is reported within seconds, and then at once',
  { skip },
  async () => {
    await using edge = await startTestEdge()
    await using etcd = await startTestEtcd()
    const fleet = await startTestHub({ etcd: { etcdServers: [etcd.endpoint], etcdPrefix } })
    await using _fleet = fleet
    await using other = await spawnReplica(etcd, replicaKeyPath(fleet.directory))
    const at = (hub: string, directory: string) =>
      startTestAgent(fleet, { name: 'edge', api: edge.api, hub, directory })
    await using _far = await at(other.url, join(fleet.directory, 'far'))
    await until(async () => (await ask(fleet)).status === 200, soon())
    other.fallSilent()
    const waited = await ask(fleet)
    assert.equal(waited.status, 503)
    // A link that is only watched counts as dead after 25 s.
    assert.match(waited.text, /Cannot reach cluster \\"edge\\": nothing heard for 1?\d s/)
    const refused = await ask(fleet)
    assert.equal(refused.status, 503)
    assert.match(refused.text, /the replica that ha(s|d) its tunnel (does not answer|is gone)/)
    // Another way is taken as soon as there is one.
    await using near = await at(fleet.url, join(fleet.directory, 'near'))
    await near.connected()
    assert.equal((await ask(fleet)).status, 200)
  },
)
