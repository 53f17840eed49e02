import type { Command } from 'commander'
import { example, toJson } from '../flags/option-values.ts'

interface ForwardFlags {
  kubeconfig: string | undefined
  context: string | undefined
  address: string
  output: string | undefined
}

/** Adds the command for ports of this machine that lead to services of an edge. */
export function addForwardCommand(program: Command): void {
  program
    .command('forward')
    .description('Forward ports of this machine to services of an edge, through the hub')
    .argument('<cluster>', 'name of the cluster on the hub')
    .argument('<services...>', '[local port:]namespace/name:port')
    .option('--kubeconfig <path>', "kubeconfig for the hub (default: kubectl's)")
    .option('--context <name>', 'context that leads to the hub (default: the current one)')
    .option('--address <ip>', 'listen on this address', '127.0.0.1')
    .option('-o, --output <format>', 'json: one line for each port', toJson)
    .addHelpText(
      'after',
      example(
        'skerry forward shop-7 8080:shop/web:80',
        'skerry forward shop-7 5432:shop/db:postgres 8080:shop/web:80 --context hub',
      ),
    )
    .action(async (cluster: string, services: string[], flags: ForwardFlags) => {
      const [{ runForward }, { kubeconfigDefault }, { stopSignal }] = await Promise.all([
        import('../../roles/client/forward/forward.ts'),
        import('../../roles/client/login/login.ts'),
        import('../../roles/runtime/role-context.ts'),
      ])
      const kubeconfig = flags.kubeconfig ?? kubeconfigDefault(process.env)
      const options = { ...flags, kubeconfig, cluster, services, environment: process.env }
      await runForward(
        options,
        {
          print: (line: string) => console.log(line),
          complain: (line: string) => console.error(line),
        },
        stopSignal(),
      )
    })
}
