import { join } from 'node:path'
import type { Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import { dataDirectoryDefault } from './data-directory.ts'
import { example, role } from './role-commands.ts'
import { runRole } from './role-context.ts'

interface LeaveFlags {
  karmada: string
  dataDir: string
  kubeconfig: string | undefined
  context: string | undefined
  keepObjects: boolean | undefined
  logLevel: LogLevel
}

/** `skerry cluster leave`: what an agent that has ended had at Karmada goes. */
export function addLeave(cluster: Command): void {
  role(cluster.command('leave'))
    .description('At a cluster whose agent is stopped: take it out of Karmada')
    .argument('<name>', 'of the cluster, in Karmada')
    .requiredOption('--karmada <url>', 'as its agent was told')
    .option('--data-dir <path>', 'of its agent', join(dataDirectoryDefault, 'agent'))
    .option('--kubeconfig <path>', 'how to reach the cluster (default: the pod it runs in)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--keep-objects', 'what Works have made stays, and is nobody’s')
    .addHelpText(
      'after',
      example(
        'skerry cluster leave shop-7 --karmada https://karmada:5443 --kubeconfig shop.config',
      ),
    )
    .action(async (name: string, flags: LeaveFlags) => {
      const { leaveKarmada } = await import('./leave-karmada.ts')
      const { findLocalApi } = await import('./local-api.ts')
      const { connectBy } = await import('./way-to-hub.ts')
      const api = await findLocalApi(flags)
      const { karmada: server, dataDir: directory } = flags
      await runRole('leave', flags.logLevel, async (context) => {
        const way = await connectBy({ hub: server }, context)
        const keepsObjects = flags.keepObjects === true
        const onWaiting = (what: string): void => console.log(`Waiting for ${what}`)
        const asked = { directory, server, clusterName: name, api, keepsObjects, onWaiting }
        await leaveKarmada({ ...asked, ...way }, context)
      })
      console.log(
        `${name} has left; at Karmada remain, for its administrator to delete: clusterrole and clusterrolebinding system:karmada:${name}:agent, and in karmada-cluster role and rolebinding system:karmada:${name}:agent-secret`,
      )
    })
}
