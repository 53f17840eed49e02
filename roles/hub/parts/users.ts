import { createStaticTokenAuthenticator } from '@skerry/apiserver'
import { clusterAccessKind, findUserToken } from '@skerry/fleet-kinds'
import {
  clusterAccessAuthorizer,
  clusterAccessEscalation,
  clusterAccessRules,
  createClusterGrants,
  reachableClustersRoute,
} from '@skerry/gateway'
import type { HubPart } from '../contract/hub-part.ts'

/** Gives people tokens of the hub's own, access to clusters by label, and the list of those that they may reach. */
export function users({ clusterDomain }: { clusterDomain?: string | undefined }): HubPart {
  return {
    kinds: (builtin) => [clusterAccessKind(builtin)],
    routes: ({ objects }) => [reachableClustersRoute({ objects, clusterDomain })],
    access({ objects, context: { clock } }) {
      const grants = createClusterGrants(objects)
      const find = (id: string) => findUserToken(objects, id, clock.now())
      return {
        authorizers: [clusterAccessAuthorizer(grants)],
        furtherRules: clusterAccessRules(grants, objects),
        tokens: [createStaticTokenAuthenticator(find, clock)],
        admission: (authorizer) => [clusterAccessEscalation(grants, authorizer)],
      }
    },
  }
}
