import { StatusError, isJsonObject } from '@skerry/api'
import type { Authorizer, Objects, Route, UserInfo } from '@skerry/apiserver'
import { resources } from '@skerry/client'
import { fingerprintOf } from '@skerry/pki'
import { isRoleGenerator, clusterResource } from '@skerry/fleet-kinds'

/** The name prefix of its own certificate requests. */
export const generatorRequestPrefix = 'agent-rbac-generator-'

/** The paths that `karmadactl register` would write for an agent; see agentRolesRoute. */
const rolePaths =
  /^\/(?:apis\/rbac\.authorization\.k8s\.io\/v1\/(?:namespaces\/[^/]+\/)?(?:cluster)?role(?:binding)?s|api\/v1\/namespaces)$/

const agentRolesPath = '/hub/v1/agent-roles'

/**
 * Rewrites the requests of `karmadactl register`, which first obtains a certificate with which it writes the
 * roles of the future agent. A hub has one rule for all agents (see agentAuthorizer) and stores no roles:
 * every such request goes to this path, which answers that the object already exists.
 */
export function agentRolesTarget({ method, path }: { method: string; path: string }) {
  return method === 'POST' && rolePaths.test(path) ? agentRolesPath : undefined
}

export const agentRolesRoute: Route = Object.freeze<Route>({
  prefix: agentRolesPath,
  async serve() {
    throw new StatusError('AlreadyExists', 'agents have their rights from the hub itself')
  },
})

/** Allows it to make that request, to check whether a name is free, and to delete its own request. */
export function roleGeneratorAuthorizer(objects: Objects): Authorizer {
  return {
    async authorize({ user, verb, path, resource, subresource, name = '' }) {
      if (!isRoleGenerator(user) || subresource) return noOpinion
      const asked = `${verb} ${resource ? `${resource.resource}.${resource.group}` : path}`
      const isAllowed =
        asked === `post ${agentRolesPath}` ||
        (asked === 'get clusters.cluster.karmada.io' && isFree(name, objects)) ||
        (asked === 'delete certificatesigningrequests.certificates.k8s.io' &&
          isOwnRequest(name, user, objects))
      return isAllowed ? { verdict: 'allow', reason: '' } : noOpinion
    },
  }
}

const noOpinion = Object.freeze({ verdict: 'no-opinion', reason: '' } as const)

function isFree(name: string, objects: Objects): boolean {
  return name !== '' && objects.get(clusterResource, '', name) === undefined
}

/**
 * Reports whether the request is the user's own. All generators share one name, so the certificate that the
 * request produced identifies them.
 */
function isOwnRequest(name: string, { extra }: UserInfo, objects: Objects): boolean {
  if (!name.startsWith(generatorRequestPrefix)) return false
  const status = objects.get(resources.certificateSigningRequests, '', name)?.['status']
  const issued = isJsonObject(status) ? status['certificate'] : undefined
  if (typeof issued !== 'string') return false
  const fingerprint = fingerprintOf(Buffer.from(issued, 'base64').toString('utf8'))
  const ids = extra['authentication.kubernetes.io/credential-id'] ?? []
  return ids.length === 1 && ids[0] === `X509SHA256=${fingerprint}`
}
