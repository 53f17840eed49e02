import { dirname, join } from 'node:path'
import { version } from '../../../roles/runtime/version.ts'
import { bundleProgram } from '../../build/bundle.ts'
import { buildConsole } from '../../build/console.ts'
import { startConsoleScene, tokenOf, type ConsoleScene } from '../../e2e/console-scene.ts'
import { bundledCommand } from '../measure/bundled-command.ts'
import { startOrdered, type OrderedProcess } from '../measure/ordered-process.ts'
import type { Order } from './orders.ts'

/** A hub with a cluster without nodes, all of them from the bundle, and clients at both. */
export interface BenchScene extends ConsoleScene {
  /** Clients on the host of the hub. */
  readonly atHub: OrderedProcess<Order>
  /** Clients on the host of the site. */
  readonly atSite: OrderedProcess<Order>
  /** The kubeconfig of the hub's own administrator. */
  readonly hubConfig: string
  /** The tokens of users who may read all clusters. */
  readonly readers: readonly string[]
}

/** A hub bounds the streams of one user, so that a hundred tabs are those of several. */
const readerCount = 5

export async function startBenchScene(directory: string): Promise<BenchScene> {
  const outputDirectory = join(directory, 'program')
  const program = await bundleProgram({ outputDirectory, version })
  await buildConsole({ outputDirectory: dirname(program), compression: 'best' })
  const bundle = { program, compileCache: join(directory, 'compile-cache') }
  const [hubCommand, siteCommand, agentCommand] = await Promise.all(
    ['hub', 'site', 'agent'].map((role) => bundledCommand(role, bundle)),
  )
  await using stack = new AsyncDisposableStack()
  const scene = stack.use(
    await startConsoleScene({
      cluster: {
        command: siteCommand,
        // No node reads it.
        archives: directory,
        siteFlags: async () => ['--disable-controller-manager', '--disable-scheduler'],
      },
      cloud: { hubCommand: hubCommand ?? [], agentCommand: agentCommand ?? [] },
    }),
  )
  const script = join(import.meta.dirname, 'cloud-client.ts')
  const atHub = stack.use(startOrdered<Order>(scene.cloud.host, script))
  const atSite = stack.use(startOrdered<Order>(scene.cluster.siteHost, script))
  const hubConfig = join(scene.cloud.directory, 'admin.kubeconfig')
  const readers: string[] = []
  for (let at = 0; at < readerCount; at += 1) {
    readers.push(await tokenOf(scene.cloud, `reader-${at}`, 'admins'))
  }
  const owned = stack.move()
  return {
    ...scene,
    atHub,
    atSite,
    hubConfig,
    readers,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
