/** The hub's preview of the clusters that a policy is for. Pure. */
import type { ExplainedPolicy } from './explanation.ts'

export interface PlacementPreview {
  readonly reason: string
  readonly message: string
  readonly affinityName?: string
  readonly clusters: readonly { readonly name: string; readonly replicas?: number }[]
  readonly refused: readonly { readonly cluster: string; readonly reasons: readonly string[] }[]
}

/** The answer of `/hub/v1/policy-preview`. */
export interface PolicyPreview {
  readonly placement?: PlacementPreview
  readonly rules?: readonly { readonly rule: number; readonly clusters: readonly string[] }[]
}

export function previewPath({ kind, namespace, name }: ExplainedPolicy, replicas: string): string {
  const query = new URLSearchParams({ kind, name })
  if (namespace !== undefined) query.set('namespace', namespace)
  if (replicas !== '') query.set('replicas', replicas)
  return `/hub/v1/policy-preview?${query.toString()}`
}

/** Puts clusters together that are refused for the same first reason; the most frequent reason comes first. */
export function refusals(
  refused: PlacementPreview['refused'],
): (readonly [reason: string, clusters: readonly string[]])[] {
  const groups = new Map<string, string[]>()
  for (const { cluster, reasons } of refused) {
    const [reason = ''] = reasons
    const group = groups.get(reason)
    if (group === undefined) groups.set(reason, [cluster])
    else group.push(cluster)
  }
  return [...groups].toSorted(([, a], [, b]) => b.length - a.length)
}
