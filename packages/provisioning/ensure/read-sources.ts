import { messageOf } from '@skerry/base'
import type { EdgeCluster, EdgeClusterSpec } from '../kind/edge-cluster.ts'
import { StepError, type StepContext } from '../contract/step.ts'

/** A key of a Secret or ConfigMap that a field names. */
interface Source {
  readonly field: string
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  readonly key: string
}

export function hasSources({ spec }: EdgeCluster): boolean {
  return sourcesOf(spec).length > 0
}

/** Returns everything that later steps read. The logins of machines are left out: the first step uses each. */
export function sourcesOf({
  files = [],
  hooks = [],
  addons = [],
  proxy,
}: EdgeClusterSpec): Source[] {
  const configMap = 'ConfigMap' as const
  const login = proxy?.credentials?.name
  return [
    ...files.map(({ from }, at) => ({
      field: `spec.files[${at}].from`,
      kind: from.secret === undefined ? configMap : ('Secret' as const),
      name: from.secret ?? from.configMap ?? '',
      key: from.key,
    })),
    ...hooks.map(({ configMap: name, key }, at) => ({
      field: `spec.hooks[${at}]`,
      kind: configMap,
      name,
      key,
    })),
    ...(login === undefined ? [] : ['username', 'password']).map((key) => ({
      field: 'spec.proxy.credentials',
      kind: 'Secret' as const,
      name: login ?? '',
      key,
    })),
    ...addons.map(({ configMap: name, key }, at) => ({
      field: `spec.addons[${at}]`,
      kind: configMap,
      name,
      key,
    })),
  ]
}

/** Reads every source, so that a missing one is found before a machine is touched. */
export async function readSources({ edge, hub, signal }: StepContext): Promise<string> {
  const namespace = edge.metadata.namespace ?? ''
  const sources = sourcesOf(edge.spec)
  const findings: string[] = []
  for (const { field, ...source } of sources) {
    try {
      await hub.read({ namespace, ...source }, signal)
    } catch (error) {
      signal.throwIfAborted()
      // Anything else is a failure of the hub itself, and may be over soon.
      if (!(error instanceof StepError)) throw error
      findings.push(`${field}: ${messageOf(error)}`)
    }
  }
  if (findings.length > 0) throw new StepError(findings.join('; '), { isFinal: true, findings })
  return `${sources.length} keys`
}
