import { certificateLifetimes } from '@skerry/bootstrap'
import { clusterRegistrationKind } from '@skerry/fleet-kinds'
import {
  agentAuthorizer,
  agentCsrApprovingController,
  agentLimitsPlugin,
  agentRestriction,
  clusterIdentity,
  leaveAuthorizer,
  leaveRoute,
  reEnrolmentAuthorizer,
  reEnrolmentRoute,
  refuseRevoked,
  withSourceAddress,
} from '@skerry/membership'
import { deleteFromHub, shutOut } from '../../admin/strike-off.ts'
import { clusterRegistrationReview } from '../registration/cluster-registration-review.ts'
import { cutRevokedAgents } from '../registration/cut-revoked-agents.ts'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'
import type { RegistrationRules } from '../registration/registration-rules.ts'
import { registrationDefaults } from '../limits-table.ts'

export interface RegistrationGiven {
  /** If omitted, tokens suffice, and agents may return for a month after their certificate's expiry. */
  readonly rules?: RegistrationRules | undefined
  /** True: agents may come past boxes that open TLS. */
  readonly takesInspectedTls: boolean
}

/** The time by which certificates are backdated, in milliseconds. */
const backdateMs = certificateLifetimes.skewMs

/** Lets agents join the hub, limits what they may do there, and lets them leave it. */
export function registration({
  rules = registrationDefaults,
  takesInspectedTls,
}: RegistrationGiven): HubPart {
  const { requiresAcceptance, reEnrolmentGraceMs: graceMs } = rules
  return {
    kinds: (builtin) => [clusterRegistrationKind(builtin)],
    routes(hub) {
      const { objects, pki, time, context } = hub
      const { clock, log } = context
      const { authority } = pki
      const reckonedMs = (): number => time.reckonedMs()
      const lifetimeMs = certificateLifetimes.leafMs
      const renewing = { objects, authority, graceMs, lifetimeMs, reckonedMs, backdateMs }
      return [
        reEnrolmentRoute({ ...renewing, clock, log }),
        leaveRoute({ strikeOff: (name) => strikeOff(name, hub), log }),
      ]
    },
    access(hub) {
      const { objects } = hub
      const review = clusterRegistrationReview(hub, { takesInspectedTls })
      return {
        authorizers: [agentAuthorizer(objects), reEnrolmentAuthorizer, leaveAuthorizer],
        callers: withSourceAddress,
        reviews: { 'clusterregistrations.hub.skerry.io': review },
        admission: () => [agentRestriction(objects), agentLimitsPlugin, clusterIdentity(objects)],
        certificates: (usual) => refuseRevoked(usual, objects, { backdateMs }),
      }
    },
    controllers: () => [agentCsrApprovingController({ requiresAcceptance })],
    tasks: ({ cluster, connections: { own }, context }) => [
      (scope) => cutRevokedAgents(cluster, own, context, scope),
    ],
  }
}

/** Removes the Cluster first: while the agent has its certificate it can ask again for the rest. */
async function strikeOff(name: string, { cluster, context }: OpenHub): Promise<void> {
  const { clock, signal } = context
  await deleteFromHub(cluster, name, signal)
  await shutOut(cluster, { name, nowMs: clock.now() }, signal)
}
