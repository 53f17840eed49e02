import { clusterResource } from '@skerry/fleet-kinds'
import {
  awaySinceMs,
  clusterProxyRoutes,
  createDelegation,
  limitUserStreams,
  serviceRoutes,
} from '@skerry/gateway'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'

/** Leads users to the API and the services of each cluster, and writes down who went where. */
export function clusterProxy({ clusterDomain }: { clusterDomain?: string | undefined }): HubPart {
  return {
    routes(hub) {
      const deps = proxyDeps(hub)
      return [
        ...serviceRoutes({ ...deps, clusterDomain }),
        ...limitUserStreams(clusterProxyRoutes(deps)),
      ]
    },
    access() {
      const { authorizer, impersonation } = createDelegation()
      return { authorizers: [authorizer], impersonation }
    },
    audit: ({ audit }) => audit.sink,
  }
}

function proxyDeps({ objects, way, audit, context: { clock, random, log } }: OpenHub) {
  const find = (name: string) => objects.get(clusterResource, '', name)
  return {
    way,
    audit,
    clock,
    random,
    log,
    isKnown: (cluster: string) => find(cluster) !== undefined,
    awaySinceMs: (cluster: string) => awaySinceMs(find(cluster)),
  }
}
