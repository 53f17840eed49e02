import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ClusterOnHosts } from './cluster-on-hosts.ts'

export interface PortForward extends AsyncDisposable {
  /** The port on 127.0.0.1 of the site's host. */
  port: number
}

/** Starts `kubectl port-forward`; resolves when it listens. Disposing ends it. */
export async function startPortForward(
  cluster: ClusterOnHosts,
  args: readonly string[],
): Promise<PortForward> {
  const child = cluster.siteHost.start(cluster.kubectlCommand(['port-forward', ...args]), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...cluster.kubectlEnv },
  })
  if (child.stdout === null) throw new Error('Cannot start port-forward: no output')
  const exited = once(child, 'exit')
  const port = await listeningPort(child.stdout)
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function listeningPort(output: NodeJS.ReadableStream): Promise<number> {
  for await (const line of createInterface({ input: output })) {
    const port = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) {
      output.resume()
      return Number(port)
    }
  }
  throw new Error('Cannot forward: kubectl ended before it listened')
}
