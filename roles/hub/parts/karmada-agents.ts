import { goOnPastUnreadable } from '@skerry/apiserver'
import {
  agentRolesRoute,
  karmadaAgentAuthorizer,
  karmadaAgentFields,
  karmadaAgentSecrets,
  karmadaAgentTarget,
  roleGeneratorAuthorizer,
} from '@skerry/membership'
import { ensureClusterInfo } from '../registration/ensure-cluster-info.ts'
import type { HubPart } from '../contract/hub-part.ts'

/** Lets Karmada's own agents register and work here, and its tools find the hub. */
export function karmadaAgents(): HubPart {
  return {
    retarget: karmadaAgentTarget,
    routes: () => [agentRolesRoute],
    access: ({ objects }) => ({
      authorizers: [karmadaAgentAuthorizer(objects), roleGeneratorAuthorizer(objects)],
      admission: () => [karmadaAgentFields, karmadaAgentSecrets],
    }),
    async tasks(hub) {
      await goOnPastUnreadable(hub.context.log, () => ensureClusterInfo(hub))
      return []
    },
  }
}
