import { isStatusError } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import { clusterKind, clusterNamespace } from '@skerry/fleet-kinds'
import { clusterStatesRoute, observeClusters } from '@skerry/gateway'
import { clusterController, createClusterMonitor } from '@skerry/membership'
import type { HubPart } from '../contract/hub-part.ts'

/** Keeps the Clusters of the fleet, and reports the state of each one. */
export function clusters(): HubPart {
  return {
    kinds: (builtin) => [clusterKind(builtin)],
    routes: ({ objects, connections: { clusters: connected } }) => [
      clusterStatesRoute({ objects, describe: connected.describe }),
    ],
    controllers: ({ connections }) => [clusterController, createClusterMonitor(connections.states)],
    async tasks({ objects, connections: { clusters: connected }, context: { metrics } }) {
      const isConnected = (cluster: string): boolean => connected.isConnected(cluster)
      observeClusters(metrics, { objects, isConnected })
      await ensureClusterNamespace(objects)
      return []
    },
  }
}

/** Leases are written there from the first agent on. */
async function ensureClusterNamespace(objects: Objects): Promise<void> {
  const namespaces = { group: '', resource: 'namespaces' }
  if (objects.get(namespaces, '', clusterNamespace)) return
  const metadata = { name: clusterNamespace }
  try {
    await objects.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
  } catch (error) {
    // Another replica starts at the same time.
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}
