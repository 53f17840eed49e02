import type { Command } from 'commander'
import type { KubeconfigFlags } from '../../roles/client/login/print-kubeconfig.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { example } from '../flags/option-values.ts'
import { commandBounds } from '../limits-table.ts'

/** Adds the command that makes kubeconfigs for a hub, a site, or this machine. */
export function addKubeconfigCommand(program: Command): void {
  program
    .command('kubeconfig')
    .option('--data-dir <path>', 'directory for all state', dataDirectoryDefault)
    .description('Print a kubeconfig with a context for the hub and for each cluster')
    .option(
      '--hub <url>',
      'show the clusters that you may reach at this hub (default: the hub that "skerry up" runs here)',
    )
    .option(
      '--ca-file <path>',
      "certificate of the hub's authority, PEM (default: the system's authorities)",
    )
    .option(
      '--site-dir <path>',
      'show the masters of the site with this data directory, one context for each',
    )
    .option('--token-file <path>', 'file with your token')
    .option('--client-certificate <path>', 'your certificate, PEM')
    .option('--client-key <path>', 'its key, PEM')
    .option(
      '--renew',
      'renew the certificate when it is due (skerry hub --renew-user-certificates)',
    )
    .option('--output-file <path>', 'merge into this kubeconfig instead of printing one')
    .option('--host-names', 'address clusters by their host names instead of by path')
    .option('--prefix <text>', 'prefix of each name, if other contexts have the same names', '')
    .addHelpText(
      'after',
      example(
        'skerry kubeconfig > ~/.kube/skerry',
        'skerry kubeconfig --site-dir /var/lib/skerry/site',
        'skerry kubeconfig --hub https://hub:7443 --ca-file ca.crt --token-file token --output-file ~/.kube/config',
      ),
    )
    .action(async (flags: KubeconfigFlags) => {
      const { printKubeconfig } = await import('../../roles/client/login/print-kubeconfig.ts')
      await printKubeconfig(flags, AbortSignal.timeout(commandBounds.answerMsMax))
    })
}
