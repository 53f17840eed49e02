import type { KubeObject } from '@skerry/api'

const suffix = '.static.k8s.io'

/** Names that are reserved for configurations that a server reads from files. */
export function warningsOfFileNames({ metadata: { name = '' } }: KubeObject): string[] {
  if (!name.endsWith(suffix)) return []
  const use = 'reserved for static manifest-based configurations and cannot be managed via the API'
  return [`metadata.name: names ending with "${suffix}" are ${use}`]
}
