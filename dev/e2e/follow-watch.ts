import { createInterface } from 'node:readline'
import { join } from 'node:path'
import type { MastersOnHosts } from './masters-on-hosts.ts'
import { waitFor } from './wait-for.ts'

/** `kubectl get -w` of a person at the hub, who looks at the objects of the load. */
export interface FollowedWatch {
  /** True if it was never started again. */
  isRunning(): boolean
  /** Waits until it has shown the object. */
  untilShown(name: string): Promise<void>
  stop(): void
}

/** Starts it; it has shown the first objects when this resolves. */
export async function followWatchByHub({ cluster, hub }: MastersOnHosts): Promise<FollowedWatch> {
  const [program = ''] = cluster.kubectlCommand([])
  const flags = ['--kubeconfig', hub.kubeconfig, '-o', 'name', '-l', 'app=history', '-w']
  const child = hub.host.start([program, 'get', 'configmaps', ...flags], {
    env: {
      ...process.env,
      HOME: cluster.directory,
      KUBECACHEDIR: join(cluster.directory, 'watch'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const shown = new Set<string>()
  if (child.stdout === null) throw new Error('Cannot follow watch: the command has no output')
  createInterface({ input: child.stdout }).on('line', (line) => shown.add(line))
  const untilShown = (name: string): Promise<void> =>
    waitFor(`the watch by the hub to show ${name}`, async () =>
      shown.has(`configmap/${name}`) ? true : undefined,
    ).then(() => undefined)
  await untilShown('made-0')
  return {
    isRunning: () => child.exitCode === null && child.signalCode === null,
    untilShown,
    stop: () => void child.kill('SIGTERM'),
  }
}
