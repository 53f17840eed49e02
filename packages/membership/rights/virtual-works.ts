import type { AdmissionPlugin, Objects } from '@skerry/apiserver'
import { clusterResource, executionNamespace, parentOf, virtualOfKey } from '@skerry/fleet-kinds'

/**
 * Labels each Work of a virtual cluster with the cluster whose agent applies it, so that this agent watches
 * the Works of all its virtual clusters with one watch. No user may set the label.
 */
export function virtualWorksPlugin(objects: Objects): AdmissionPlugin {
  return {
    name: 'VirtualWorks',
    handles: ({ operation, resource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === 'work.karmada.io' &&
      resource.resource === 'works',
    async admit({ object, namespace }) {
      if (object === undefined) return
      const prefix = executionNamespace('')
      const name = namespace.startsWith(prefix) ? namespace.slice(prefix.length) : ''
      const cluster = name && objects.get(clusterResource, '', name)
      const parent = cluster ? parentOf(cluster) : undefined
      const { labels } = object.metadata
      if (labels?.[virtualOfKey] === parent) return
      const { [virtualOfKey]: _claimed, ...others } = labels ?? {}
      object.metadata.labels = { ...others, ...(parent ? { [virtualOfKey]: parent } : {}) }
    },
  }
}
