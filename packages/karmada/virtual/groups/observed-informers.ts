import type { KubeObject } from '@skerry/api'
import {
  resources,
  type Informer,
  type ResourceClient,
  type ResourceRef,
  type TypedResource,
} from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { EdgeObserver } from '../../agent/edge-observer.ts'

/** A set whose nodes and pods are those that the observer follows already, slim as they are there. */
export function withObserved(
  own: InformerSet,
  local: { resource<T extends KubeObject>(resource: TypedResource<T>): ResourceClient<T> },
  { nodes, pods }: Pick<EdgeObserver, 'nodes' | 'pods'>,
): InformerSet {
  const observed = (asked: ResourceRef): Informer<KubeObject> | undefined => {
    // What they hold is told by the resource that is asked for, and each has one type of objects.
    if (asked === resources.nodes) return nodes as unknown as Informer<KubeObject>
    if (asked === resources.pods) return pods as unknown as Informer<KubeObject>
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
