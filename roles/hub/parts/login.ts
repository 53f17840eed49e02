import {
  certificateRenewalAuthorizer,
  certificateRenewalRoute,
  loginOffersAuthorizer,
  loginOffersRoute,
  type LoginOffer,
} from '@skerry/gateway'
import { certificateLifetimes } from '@skerry/bootstrap'
import { wrongUse } from '../../runtime/read-config-file.ts'
import type { HubPart } from '../contract/hub-part.ts'
import { loginOffersOf, type LoginFlags } from '../contract/login-flags.ts'

/** Tells people where to log in. Throws ExpectedError where no issuer has the client of the flags. */
export function login(flags: LoginFlags): HubPart {
  const { loginClientId: clientId, loginScope: scopes = [] } = flags
  if (clientId === undefined) {
    if (scopes.length > 0) throw wrongUse('--login-scope needs --login-client-id')
    return {}
  }
  return {
    routes({ issuers }) {
      // Asked at each request: the file of the issuers may change.
      const offers = (): LoginOffer[] => loginOffersOf(flags, issuers())
      if (offers().length === 0) throw noIssuer(clientId)
      return [loginOffersRoute(offers)]
    },
    access: () => ({ authorizers: [loginOffersAuthorizer] }),
  }
}

/** Renews the certificates of people who come with one. */
export function certificateRenewal({ renewUserCertificates }: LoginFlags): HubPart {
  if (renewUserCertificates !== true) return {}
  const backdateMs = certificateLifetimes.skewMs
  return {
    routes: ({ pki: { authority }, context: { clock } }) => [
      certificateRenewalRoute({ authority, backdateMs, clock }),
    ],
    access: () => ({ authorizers: [certificateRenewalAuthorizer] }),
  }
}

function noIssuer(clientId: string): Error {
  return wrongUse(
    `--login-client-id ${clientId}: no issuer of --authentication-config or --oidc-issuer-url has this audience`,
  )
}
