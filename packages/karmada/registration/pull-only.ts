import { StatusError, isJsonObject } from '@skerry/api'
import type { AdmissionPlugin } from '@skerry/apiserver'
import { clusterResource } from '../cluster/cluster.ts'

/** A Cluster in push mode would wait for ever: whoever registers one is told at once. */
export const pullOnly: AdmissionPlugin = {
  name: 'PullOnly',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' &&
    resource.group === clusterResource.group &&
    resource.resource === clusterResource.resource &&
    subresource === '',
  async validate({ object }) {
    const spec = object?.['spec']
    if (!isJsonObject(spec) || spec['syncMode'] !== 'Push') return
    const { name = '' } = object?.metadata ?? {}
    const { group, resource } = clusterResource
    throw new StatusError(
      'Forbidden',
      `${resource}.${group} ${JSON.stringify(name)} is forbidden: a hub dials no cluster, so it has none in push mode; register it with "karmadactl register" or "skerry cluster join-command"`,
    )
  },
}
