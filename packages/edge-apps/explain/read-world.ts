import type { KubeObject, Node } from '@skerry/api'
import { resources, type ClusterClient, type TypedResource } from '@skerry/client'
import type { App, AppKind, AppWorld } from '../children/app-kind.ts'
import { childKey, keyOfChild, type Child } from '../children/child.ts'

/** Reads the nodes and the sources of a kind. Resolves with the world of an application that owns the given children. */
export async function readWorld<T extends App>(
  cluster: ClusterClient,
  kind: AppKind<T>,
  signal: AbortSignal,
): Promise<(owned: readonly Child[]) => AppWorld> {
  const listed = new Map<TypedResource<KubeObject>, readonly KubeObject[]>()
  for (const source of kind.sources ?? []) {
    listed.set(source, (await cluster.resource(source).list({}, signal)).items)
  }
  const nodes: readonly Node[] = (await cluster.resource(resources.nodes).list({}, signal)).items
  return (owned) => ({
    nodes,
    owned,
    named: (of, name) => owned.find((child) => keyOfChild(child) === childKey(of, name)),
    // A source is listed under the same reference by which the kind asks for it, with its type of objects.
    objects: <O extends KubeObject>(source: TypedResource<O>) =>
      (listed.get(source as TypedResource<KubeObject>) ?? []) as readonly O[],
  })
}
