import {
  certificateRenewalAuthorizer,
  certificateRenewalRoute,
  loginOffersAuthorizer,
  loginOffersRoute,
  type LoginOffer,
} from '@skerry/gateway'
import { certificateLifetimes } from '@skerry/bootstrap'
import { wrongUse } from '../../runtime/read-config-file.ts'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'

export interface LoginFlags {
  /** A public client of one of the hub's issuers. Default: the hub does not say where its users log in. */
  loginClientId?: string | undefined
  loginScope?: readonly string[] | undefined
  /** True: a user with a certificate of the hub gets the next one by it. */
  renewUserCertificates?: boolean | undefined
}

/** Tells people where to log in. Throws ExpectedError where no issuer has the client of the flags. */
export function login({ loginClientId: clientId, loginScope: scopes = [] }: LoginFlags): HubPart {
  if (clientId === undefined) {
    if (scopes.length > 0) throw wrongUse('--login-scope needs --login-client-id')
    return {}
  }
  return {
    routes({ issuers }) {
      // Asked at each request: the file of the issuers may change.
      const offers = (): LoginOffer[] => offersOf({ clientId, scopes }, issuers())
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

function offersOf(
  { clientId, scopes }: { readonly clientId: string; readonly scopes: readonly string[] },
  issuers: ReturnType<OpenHub['issuers']>,
): LoginOffer[] {
  return issuers.flatMap(({ url, audiences, certificateAuthority }) => {
    if (url === undefined || audiences?.includes(clientId) !== true) return []
    const ca = certificateAuthority ? { certificateAuthority } : {}
    return { issuerUrl: url, clientId, scopes, ...ca }
  })
}

function noIssuer(clientId: string): Error {
  return wrongUse(
    `--login-client-id ${clientId}: no issuer of --authentication-config or --oidc-issuer-url has this audience`,
  )
}
