/** Replicas of a hub as processes, and a balancer before them, for tests. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect as connectTcp, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestEtcd } from '../test-etcd.ts'

/** Returns the flags of a hub whose replicas share this etcd. */
export function etcdFlags(etcd: TestEtcd) {
  return { etcdServers: [etcd.endpoint], etcdPrefix: '/skerry/hub' }
}

/** A replica that can be killed. */
export async function spawnReplica(etcd: TestEtcd, replicaKeyFile: string) {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-hub-replica-'))
  const program = join(import.meta.dirname, '../../cmd/skerry.ts')
  const flags = ['--data-dir', directory, '--bind-address', '127.0.0.1', '--port', '0']
  const where = ['--etcd-servers', etcd.endpoint, '--replica-key-file', replicaKeyFile]
  const child = spawn(
    process.execPath,
    [program, 'hub', '--log-level', 'error', ...flags, ...where],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  )
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('The replica did not start'))),
  ])
  const config = await readFile(join(directory, 'admin.kubeconfig'), 'utf8')
  return {
    url: /server: (\S+)/.exec(config)?.[1] ?? '',
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async [Symbol.asyncDispose]() {
      await this.kill()
      await rm(directory, { recursive: true })
    },
  }
}

/**
 * Starts a balancer: one name for all replicas, which passes connections to the currently chosen ones in
 * turns.
 */
export async function startBalancer(target: { urls: readonly string[] }) {
  let turn = 0
  const server = createTcpServer((client) => {
    const url = target.urls[turn++ % target.urls.length] ?? ''
    const hub = connectTcp({ host: '127.0.0.1', port: Number(new URL(url).port) })
    for (const [from, to] of [
      [client, hub],
      [hub, client],
    ] as const) {
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
