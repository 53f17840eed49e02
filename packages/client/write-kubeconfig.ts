import { rename, writeFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import type { Kubeconfig } from './kubeconfig.ts'

/** Replaces the file atomically, readable by its owner alone, because it holds keys. */
export async function writeKubeconfig(path: string, config: Kubeconfig): Promise<void> {
  const next = `${path}.new`
  await writeFile(next, formatKubeconfig(config), { mode: 0o600 })
  await rename(next, path)
}

export function formatKubeconfig(config: Kubeconfig): string {
  return stringify(config, { lineWidth: 0 })
}
