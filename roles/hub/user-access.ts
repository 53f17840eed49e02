import {
  createStaticTokenAuthenticator,
  type AdmissionPlugin,
  type Authorizer,
  type FurtherRules,
  type Objects,
  type Route,
  type Serving,
  type TokenAuthenticator,
} from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { findUserToken } from '@skerry/fleet-kinds'
import {
  clusterAccessAuthorizer,
  clusterAccessEscalation,
  clusterAccessRules,
  createClusterGrants,
  createHostNames,
  reachableClustersRoute,
} from '@skerry/gateway'

/**
 * The hub's parts for people: its own tokens, access by label, the list of reachable clusters, and host
 * names.
 */
export interface UserAccess {
  readonly route: Route
  readonly retarget: NonNullable<Serving['retarget']>
  /** Names of the serving certificate. */
  readonly dnsNames: readonly string[]
  /** Called once, when the objects are available. */
  open(objects: Objects): {
    readonly authorizer: Authorizer
    readonly furtherRules: FurtherRules
    readonly tokens: readonly TokenAuthenticator[]
    readonly admission: (authorizer: Authorizer) => AdmissionPlugin
  }
}

export function createUserAccess(
  { clusterDomain }: { clusterDomain: string | undefined },
  clock: Clock,
): UserAccess {
  const known: { objects?: Objects } = {}
  return {
    route: reachableClustersRoute({ objects: () => known.objects, clusterDomain }),
    retarget: createHostNames({ clusterDomain }),
    dnsNames: clusterDomain === undefined ? [] : [`*.${clusterDomain.toLowerCase()}`],
    open(objects) {
      known.objects = objects
      const grants = createClusterGrants(objects)
      const find = (id: string) => findUserToken(objects, id, clock.now())
      return {
        authorizer: clusterAccessAuthorizer(grants),
        furtherRules: clusterAccessRules(grants, objects),
        tokens: [createStaticTokenAuthenticator(find, clock)],
        admission: (authorizer) => clusterAccessEscalation(grants, authorizer),
      }
    },
  }
}
