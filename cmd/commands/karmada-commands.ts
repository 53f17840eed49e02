import { InvalidArgumentError, type Command } from 'commander'
import { join } from 'node:path'
import { parseDurationMs } from '@skerry/api'
import { example } from '../flags/option-values.ts'
import { commandBounds } from '../limits-table.ts'

interface ManifestFlags {
  dataDir: string
  output: string | undefined
  server: string | undefined
  ttl: string
  syncMode: 'Pull' | 'Push'
  revoke: boolean | undefined
}

const { ttlMsMin } = commandBounds.karmadaCommands

/** Adds `skerry cluster karmada-manifest`: Karmada reaches a cluster through this hub. */
export function addKarmadaManifest(command: Command): void {
  command
    .description(
      'Let Karmada reach a cluster through this hub: print the manifest to apply at Karmada',
    )
    .argument('<name>', 'name of the cluster on the hub and in Karmada')
    .option('--server <url>', 'address of the hub that Karmada dials')
    .option(
      '--sync-mode <mode>',
      'Pull, with its own agent at the site, or Push',
      toSyncMode,
      'Pull',
    )
    .option('--ttl <duration>', 'validity of the tokens, e.g. 720h', toDuration, '8760h')
    .option('--revoke', 'void the issued tokens, and print no manifest')
    .addHelpText(
      'after',
      example(
        'skerry cluster karmada-manifest shop-7 --server https://hub:7443 | kubectl --kubeconfig karmada.config apply -f -',
        'skerry cluster karmada-manifest shop-7 --revoke',
      ),
    )
    .action(async (name: string, flags: ManifestFlags) => {
      const { printKarmadaManifest, revokeKarmadaAccess } =
        await import('../client/karmada-manifest.ts')
      const kubeconfigPath = join(flags.dataDir, 'admin.kubeconfig')
      const run = flags.revoke === true ? revokeKarmadaAccess : printKarmadaManifest
      const ttlSeconds = Math.floor((parseDurationMs(flags.ttl) ?? 0) / 1_000)
      await run({ ...flags, ttlSeconds, name, kubeconfigPath })
    })
}

function toSyncMode(text: string): 'Pull' | 'Push' {
  if (text === 'Pull' || text === 'Push') return text
  throw new InvalidArgumentError('a cluster is synchronized by Pull or by Push')
}

function toDuration(text: string): string {
  if ((parseDurationMs(text) ?? 0) >= ttlMsMin) return text
  throw new InvalidArgumentError('tokens last 10m or longer, e.g. 720h')
}
