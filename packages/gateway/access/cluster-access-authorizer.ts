import type { Authorizer } from '@skerry/apiserver'
import { clusterResource } from '@skerry/fleet-kinds'
import type { ClusterGrants } from './cluster-grants.ts'
import { clusterStatesPath } from './cluster-states-route.ts'
import { reachableClustersPath } from './reachable-clusters.ts'

/**
 * Allows clusters/proxy and clusters/services of a named cluster to users to whom a ClusterAccess grants
 * them. Allows every authenticated user to ask which clusters these are, and for their states.
 */
export function clusterAccessAuthorizer(grants: ClusterGrants): Authorizer {
  return {
    async authorize({ user, verb, isResourceRequest, resource, subresource, name = '', path }) {
      if (!isResourceRequest) {
        const isOwnList =
          (path === reachableClustersPath || isStatePath(path)) &&
          verb === 'get' &&
          user.groups.includes('system:authenticated')
        return { verdict: isOwnList ? 'allow' : 'no-opinion', reason: '' }
      }
      const isAboutCluster =
        resource?.group === clusterResource.group && resource.resource === clusterResource.resource
      const isWay = subresource === 'proxy' || subresource === 'services'
      const grant =
        isAboutCluster && isWay
          ? grants.find(user, { verb, cluster: name, subresource })
          : undefined
      return grant
        ? { verdict: 'allow', reason: `ClusterAccess: allowed by ClusterAccess "${grant.name}"` }
        : { verdict: 'no-opinion', reason: '' }
    },
  }
}

function isStatePath(path: string): boolean {
  return path === clusterStatesPath || path.startsWith(`${clusterStatesPath}/`)
}
