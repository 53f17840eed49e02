import type { CustomResourceDefinition, KubeObject, Node, Pod } from '@skerry/api'
import {
  resources,
  type Informer,
  type ResourceClient,
  type ResourceRef,
  type TypedResource,
} from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'

/** Informers that the agent already runs, with slimmed objects. */
export interface ObservedInformers {
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
  readonly definitions: Informer<CustomResourceDefinition>
}

/** A set of which some are followed elsewhere already. */
export function withObserved(
  own: InformerSet,
  local: { resource<T extends KubeObject>(resource: TypedResource<T>): ResourceClient<T> },
  { nodes, pods, definitions }: ObservedInformers,
): InformerSet {
  const observed = (asked: ResourceRef): Informer<KubeObject> | undefined => {
    // The requested resource decides which type of objects the informer holds.
    if (asked === resources.nodes) return nodes as unknown as Informer<KubeObject>
    if (asked === resources.pods) return pods as unknown as Informer<KubeObject>
    if (asked === resources.customResourceDefinitions) {
      return definitions as unknown as Informer<KubeObject>
    }
    return undefined
  }
  return {
    informer: <T extends KubeObject>(asked: TypedResource<T>) =>
      (observed(asked) as unknown as Informer<T> | undefined) ?? own.informer(asked),
    existing: (asked) => observed(asked) ?? own.existing(asked),
    client<T extends KubeObject>(asked: TypedResource<T>): ResourceClient<T> {
      const informer = observed(asked)
      if (informer === undefined) return own.client(asked)
      const client = local.resource(asked)
      return {
        ...client,
        async patch(request, signal) {
          const answer = await client.patch(request, signal)
          informer.recordWrite(answer)
          return answer
        },
      }
    },
    whenSynced: (signal) => own.whenSynced(signal),
    run: (signal) => own.run(signal),
  }
}
