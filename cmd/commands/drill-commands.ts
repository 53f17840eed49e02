import { join } from 'node:path'
import type { Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { toSpanMs } from '../flags/link-flags.ts'
import { toLinkLocal } from '../flags/node-flags.ts'
import {
  example,
  runDirectoryDefault,
  toCount,
  toFixedPort,
  toJson,
} from '../flags/option-values.ts'

interface DrillFlags {
  days: number
  cut: number | undefined
  dataDir: string
  runDir: string
  serviceCidr: string
  clusterDomain: string
  kubeletPort: number
  localApiAddress: string
  localApiPort: number
  output: string | undefined
}

/** Adds the command that looks ahead at an absence of the control plane. */
export function addDrillCommand(program: Command): void {
  program
    .command('drill')
    .description(
      'Say what an absence of the control plane would do to the node on this machine and its pods; changes nothing, but with --cut',
    )
    .option('--days <number>', 'length of the absence', toCount, 14)
    .option(
      '--cut <time>',
      'cut the node off from its control plane for so long, watch it, and say what broke, e.g. 5m',
      toSpanMs,
    )
    .option(
      '--data-dir <path>',
      'data directory of the node, or of "skerry up"',
      dataDirectoryDefault,
    )
    .option('--run-dir <path>', "the node's --run-dir", join(runDirectoryDefault, 'node'))
    .option('--service-cidr <range>', 'with --cut: that of the node', '10.43.0.0/16')
    .option('--cluster-domain <name>', 'with --cut: that of the node', 'cluster.local')
    .option('--kubelet-port <number>', 'with --cut: that of the node', toFixedPort, 10_250)
    .option(
      '--local-api-address <ip>',
      'with --cut: that of the node',
      toLinkLocal,
      '169.254.20.11',
    )
    .option('--local-api-port <number>', 'with --cut: that of the node', toFixedPort, 6444)
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', example('skerry drill --days 14', 'skerry drill --cut 5m'))
    .action(async (options: DrillFlags) => {
      if (options.cut !== undefined) return runCut(options, options.cut)
      const { printDrill } = await import('../../roles/client/drill/drill.ts')
      await printDrill(options)
    })
}

async function runCut(flags: DrillFlags, cutMs: number): Promise<void> {
  const { drillCut } = await import('../../roles/client/drill/drill-cut.ts')
  const { dataDir, runDir, kubeletPort, output, serviceCidr, clusterDomain } = flags
  await drillCut({
    dataDir,
    runDir,
    cutMs,
    network: { serviceCidr, clusterDomain },
    kubeletPort,
    localApi: { address: flags.localApiAddress, port: flags.localApiPort },
    output,
  })
}
