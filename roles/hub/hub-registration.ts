import { StatusError } from '@skerry/api'
import type { ExtraAccess, Objects, Route, UserInfo } from '@skerry/apiserver'
import { certificateLifetimes } from '@skerry/bootstrap'
import { createCluster, type Cluster } from '@skerry/client'
import type { ControllerDefinition } from '@skerry/controller-runtime'
import {
  agentCsrApprovingController,
  leaveAuthorizer,
  leaveRoute,
  reEnrolmentAuthorizer,
  reEnrolmentRoute,
  withSourceAddress,
} from '@skerry/membership'
import { deleteFromHub, shutOut } from '../admin/strike-off.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { clusterRegistrationReview } from './cluster-registration-review.ts'
import type { RegistrationRules } from './registration-rules.ts'

/** The time by which certificates are backdated, in milliseconds. */
export const backdateMs = certificateLifetimes.skewMs

/**
 * Handles how agents join a hub and leave it: registrations, their approval, and the return after a long
 * absence.
 */
export interface HubRegistration {
  readonly routes: readonly Route[]
  /** The authorizers to merge with the hub's other additions. */
  readonly authorizers: NonNullable<ExtraAccess['authorizers']>
  readonly callers: NonNullable<ExtraAccess['callers']>
  readonly reviews: NonNullable<ExtraAccess['reviews']>
  readonly approving: ControllerDefinition
  /** Called once the server serves. */
  attach(plane: ControlPlane, user: UserInfo): void
}

export function createHubRegistration(
  rules: RegistrationRules & { readonly takesInspectedTls: boolean },
  context: RoleContext,
): HubRegistration {
  const { clock, log } = context
  const attached: { plane?: ControlPlane; user?: UserInfo } = {}
  const server = ():
    | { objects: Objects; authority: ControlPlane['pki']['authority'] }
    | undefined =>
    attached.plane && { objects: attached.plane.objects, authority: attached.plane.pki.authority }
  const hub = () => {
    const { plane, user } = attached
    if (!plane || !user) return undefined
    const transport = plane.server.transport(user)
    return {
      cluster: createCluster(transport, { log, clock, userAgent: `skerry-hub/${version}` }),
      caPem: plane.pki.authority.certificatePem,
      address: plane.server.address,
    }
  }
  const review = clusterRegistrationReview({
    clock,
    takesInspectedTls: rules.takesInspectedTls,
    hub,
  })
  return {
    routes: [
      reEnrolmentRoute({
        server,
        graceMs: rules.reEnrolmentGraceMs,
        lifetimeMs: certificateLifetimes.leafMs,
        reckonedMs: () => attached.plane?.time.reckonedMs(),
        backdateMs,
        clock,
        log,
      }),
      leaveRoute({ strikeOff: (name) => strikeOff(hub(), name, context), log }),
    ],
    authorizers: [reEnrolmentAuthorizer, leaveAuthorizer],
    callers: withSourceAddress,
    reviews: { 'clusterregistrations.hub.skerry.io': review },
    approving: agentCsrApprovingController({ requiresAcceptance: rules.requiresAcceptance }),
    attach(plane, user) {
      Object.assign(attached, { plane, user })
    },
  }
}

/** Removes the Cluster first: while the agent has its certificate it can ask again for the rest. */
async function strikeOff(
  hub: { readonly cluster: Cluster } | undefined,
  name: string,
  { clock, signal }: RoleContext,
): Promise<void> {
  if (hub === undefined) {
    throw new StatusError('ServiceUnavailable', 'Cannot leave: the hub is starting; ask again')
  }
  await deleteFromHub(hub.cluster, name, signal)
  await shutOut(hub.cluster, { name, nowMs: clock.now() }, signal)
}
