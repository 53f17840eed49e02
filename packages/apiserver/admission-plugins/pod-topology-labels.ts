import type { Binding, Node, Pod } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'

const topologyKeys = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

/** Sets labels of a pod that name its zone and region, whatever they were before. */
export function createPodTopologyLabels({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'PodTopologyLabels',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.pods) &&
      (subresource === '' || subresource === 'binding') &&
      operation === 'CREATE',
    async admit({ object, subresource }) {
      if (!object) return
      const name =
        subresource === 'binding'
          ? boundNode(typed<Binding>(object))
          : (typed<Pod>(object).spec?.nodeName ?? '')
      const labels = name === '' ? [] : topologyLabels(objects, name)
      if (labels.length === 0) return
      object.metadata.labels = { ...object.metadata.labels, ...Object.fromEntries(labels) }
    },
  }
}

/** Only a target that names the kind counts as a node. */
function boundNode({ target }: Binding): string {
  return target.kind === 'Node' ? (target.name ?? '') : ''
}

/** A missing node has no labels. */
function topologyLabels(objects: Objects, name: string): [string, string][] {
  const { labels = {} } = getTyped<Node>(objects, wellKnown.nodes, { name })?.metadata ?? {}
  return topologyKeys.flatMap((key) => {
    const value = labels[key]
    return value === undefined ? [] : [[key, value]]
  })
}
