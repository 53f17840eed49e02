import { keyOfObject, parseKey, resources } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'

const annotation = 'node.alpha.kubernetes.io/ttl'

/** How long kubelets may cache secrets and config maps: the more nodes, the longer. Upstream's steps. */
const steps = [
  { nodesMax: 100, seconds: 0 },
  { nodesMax: 500, seconds: 15 },
  { nodesMax: 1_000, seconds: 30 },
  { nodesMax: 2_000, seconds: 60 },
  { nodesMax: Infinity, seconds: 300 },
] as const

/** Annotates every node with how long it may cache what it has read. */
export const ttlController: ControllerDefinition = {
  name: 'ttl-controller',
  workers: 1,
  watches: [
    watch(resources.nodes, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
  ],
  async reconcile(key, context, signal) {
    const nodes = context.informer(resources.nodes)
    const node = nodes.get(parseKey(key))
    if (node === undefined) return
    const count = nodes.list().length
    const seconds = String(steps.find(({ nodesMax }) => count <= nodesMax)?.seconds ?? 0)
    if (node.metadata.annotations?.[annotation] === seconds) return
    const patch = { metadata: { annotations: { [annotation]: seconds } } }
    await context
      .client(resources.nodes)
      .patch({ ...parseKey(key), type: 'strategic', patch }, signal)
  },
}
