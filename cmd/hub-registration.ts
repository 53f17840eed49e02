import type { ExtraAccess, Objects, Route, UserInfo } from '@skerry/apiserver'
import { certificateLifetimes } from '@skerry/bootstrap'
import { createCluster } from '@skerry/client'
import type { ControllerDefinition } from '@skerry/controller-runtime'
import {
  agentCsrApprovingController,
  reEnrolmentAuthorizer,
  reEnrolmentRoute,
  withSourceAddress,
} from '@skerry/karmada'
import type { ControlPlane } from './control-plane.ts'
import { clusterRegistrationReview } from './cluster-registration-review.ts'
import type { RegistrationRules } from './registration-flags.ts'
import type { RoleContext } from './role-context.ts'
import { version } from './version.ts'

/** By how much certificates begin before they are issued. */
export const backdateMs = certificateLifetimes.skewMs

/** How agents come to a hub: their registrations, who approves them, and their return after a long absence. */
export interface HubRegistration {
  readonly route: Route
  /** To be merged with what else the hub adds. */
  readonly authorizer: ExtraAccess['authorizers'][number]
  readonly callers: NonNullable<ExtraAccess['callers']>
  readonly reviews: NonNullable<ExtraAccess['reviews']>
  readonly approving: ControllerDefinition
  /** Once the server serves. */
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
  const review = clusterRegistrationReview({
    clock,
    takesInspectedTls: rules.takesInspectedTls,
    hub: () => {
      const { plane, user } = attached
      if (!plane || !user) return undefined
      const transport = plane.server.transport(user)
      return {
        cluster: createCluster(transport, { log, clock, userAgent: `skerry-hub/${version}` }),
        caPem: plane.pki.authority.certificatePem,
        address: plane.server.address,
      }
    },
  })
  return {
    route: reEnrolmentRoute({
      server,
      graceMs: rules.reEnrolmentGraceMs,
      lifetimeMs: certificateLifetimes.leafMs,
      backdateMs,
      clock,
      log,
    }),
    authorizer: reEnrolmentAuthorizer,
    callers: withSourceAddress,
    reviews: { 'clusterregistrations.hub.skerry.io': review },
    approving: agentCsrApprovingController({ requiresAcceptance: rules.requiresAcceptance }),
    attach(plane, user) {
      Object.assign(attached, { plane, user })
    },
  }
}
