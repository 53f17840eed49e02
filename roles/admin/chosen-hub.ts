import { join } from 'node:path'
import type { Command } from 'commander'
import { dataDirectoryDefault } from '../runtime/data-directory.ts'

/** The chosen hub, and the credentials for it. */
export interface ChosenHub {
  /** The data directory of a hub on this machine. */
  readonly dataDir: string
  /** A kubeconfig for any hub, as any user, instead of that hub's administrator. */
  readonly kubeconfig?: string | undefined
}

export function withHubFlags(command: Command): Command {
  return command
    .option('--data-dir <path>', 'data directory of the hub', join(dataDirectoryDefault, 'hub'))
    .option('--kubeconfig <path>', 'kubeconfig for the hub, instead of --data-dir')
}

/** The file to go by. */
export function hubKubeconfig({ dataDir, kubeconfig }: ChosenHub): string {
  return kubeconfig ?? join(dataDir, 'admin.kubeconfig')
}
