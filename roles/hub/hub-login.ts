import type { Authorizer, Route } from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import {
  certificateRenewalAuthorizer,
  certificateRenewalRoute,
  loginOffersAuthorizer,
  loginOffersRoute,
  type LoginOffer,
} from '@skerry/gateway'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { wrongUse } from '../runtime/read-config-file.ts'
import { backdateMs } from './hub-registration.ts'
import type { LoginFlags } from './login-options.ts'

/** The routes by which people get credentials and renew them; none, unless configured. */
export interface HubLogin {
  readonly routes: readonly Route[]
  readonly authorizers: readonly Authorizer[]
  /** Called once the server serves. Throws ExpectedError if no issuer has the client of the flags. */
  attach(plane: LoginPlane): void
}

type LoginPlane = Pick<ControlPlane, 'issuers' | 'pki'>

export function createHubLogin(flags: LoginFlags, clock: Clock): HubLogin {
  const attached: { plane?: LoginPlane } = {}
  const offering = offeringOf(flags, () => attached.plane)
  const authority = () => attached.plane?.pki.authority
  const renews = flags.renewUserCertificates === true
  return {
    routes: [
      ...(offering ? [loginOffersRoute(offering.offers)] : []),
      ...(renews ? [certificateRenewalRoute({ authority, backdateMs, clock })] : []),
    ],
    authorizers: [
      ...(offering ? [loginOffersAuthorizer] : []),
      ...(renews ? [certificateRenewalAuthorizer] : []),
    ],
    attach(plane) {
      attached.plane = plane
      offering?.check()
    },
  }
}

interface Offering {
  /** The issuers that take this client's tokens at each request: their file may change. */
  offers(this: void): LoginOffer[]
  check(): void
}

function offeringOf(
  { loginClientId, loginScope = [] }: LoginFlags,
  plane: () => LoginPlane | undefined,
): Offering | undefined {
  if (loginClientId === undefined) {
    if (loginScope.length > 0) throw wrongUse('--login-scope needs --login-client-id')
    return undefined
  }
  const offers = (): LoginOffer[] =>
    (plane()?.issuers() ?? []).flatMap(({ url, audiences, certificateAuthority }) => {
      if (url === undefined || audiences?.includes(loginClientId) !== true) return []
      const ca = certificateAuthority ? { certificateAuthority } : {}
      return { issuerUrl: url, clientId: loginClientId, scopes: loginScope, ...ca }
    })
  return {
    offers,
    check() {
      if (offers().length > 0) return
      throw wrongUse(
        `--login-client-id ${loginClientId}: no issuer of --authentication-config or --oidc-issuer-url has this audience`,
      )
    },
  }
}
