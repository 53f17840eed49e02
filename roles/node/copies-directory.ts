import { join } from 'node:path'

/** Returns the directory in which the API of a node keeps copies of what its control plane answered. */
export function copiesDirectory({ dataDir }: { readonly dataDir: string }): string {
  return join(dataDir, 'local-api')
}
