import type { ClusterOnHosts } from './cluster-on-hosts.ts'

/** The container ids and restart counts by pod and container. They are equal if no container restarted. */
export type ContainerStates = Readonly<Record<string, string>>

interface PodList {
  items: {
    metadata: { namespace: string; name: string; deletionTimestamp?: string }
    spec: { nodeName?: string }
    status: {
      containerStatuses?: { name: string; containerID?: string; restartCount: number }[]
    }
  }[]
}

/**
 * Reads the pods that the selector names, without those that are being deleted: a rollout before may
 * not be over for them. Pods of jobs come and go, so select none.
 */
export async function containerStates(
  cluster: ClusterOnHosts,
  ...selection: string[]
): Promise<ContainerStates> {
  const output = await cluster.kubectl('get', 'pods', ...selection, '-o', 'json')
  // kubectl prints the API's schema. A missing field shows as a difference below.
  const { items } = JSON.parse(output) as PodList
  return Object.fromEntries(
    items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap(({ metadata, status }) =>
        (status.containerStatuses ?? []).map((container) => [
          `${metadata.namespace}/${metadata.name}/${container.name}`,
          `${container.containerID} restarted ${container.restartCount} times`,
        ]),
      ),
  )
}
