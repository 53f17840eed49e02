import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { ExpectedError, exitCodes } from '@skerry/base'

export interface Admission {
  readonly name: string
  /** Labels that a node may not give itself. */
  readonly labels: Readonly<Record<string, string>>
  readonly isUncordoned: boolean
}

/** Gives a node labels, and lets pods onto it again. Throws an ExpectedError if the site has no such node. */
export async function admitNode(
  cluster: ClusterClient,
  { name, labels, isUncordoned }: Admission,
  signal: AbortSignal,
): Promise<void> {
  const spec = isUncordoned ? { spec: { unschedulable: null } } : {}
  const patch = { metadata: { labels }, ...spec }
  const nodes = cluster.resource(resources.nodes)
  const node = await ifThere(nodes.patch({ name, type: 'merge', patch }, signal))
  if (node !== undefined) return
  throw new ExpectedError(`Cannot admit node ${name}: the site has none`, exitCodes.failure)
}
