import type { Authorizer, Route } from '@skerry/apiserver'
import { loginOffersAuthorizer, loginOffersRoute, type LoginOffer } from '@skerry/karmada'
import type { ControlPlane } from './control-plane.ts'
import type { LoginFlags } from './login-flags.ts'
import { wrongUse } from './read-config-file.ts'

/** What a hub says of how to log in; nothing, unless it is told to. */
export interface HubLogin {
  readonly routes: readonly Route[]
  readonly authorizers: readonly Authorizer[]
  /** Once the server serves. Throws ExpectedError where no issuer has that client. */
  attach(plane: Pick<ControlPlane, 'issuers'>): void
}

/** The issuers are those that take this client's tokens at each request: their file may change. */
export function createHubLogin({ loginClientId, loginScope = [] }: LoginFlags): HubLogin {
  if (loginClientId === undefined) {
    if (loginScope.length > 0) throw wrongUse('--login-scope needs --login-client-id')
    return { routes: [], authorizers: [], attach: () => undefined }
  }
  const attached: { plane?: Pick<ControlPlane, 'issuers'> } = {}
  const offers = (): LoginOffer[] =>
    (attached.plane?.issuers() ?? []).flatMap(({ url, audiences, certificateAuthority }) => {
      if (url === undefined || audiences?.includes(loginClientId) !== true) return []
      const ca = certificateAuthority ? { certificateAuthority } : {}
      return { issuerUrl: url, clientId: loginClientId, scopes: loginScope, ...ca }
    })
  return {
    routes: [loginOffersRoute(offers)],
    authorizers: [loginOffersAuthorizer],
    attach(plane) {
      attached.plane = plane
      if (offers().length > 0) return
      throw wrongUse(
        `--login-client-id ${loginClientId}: no issuer of --authentication-config or --oidc-issuer-url has this audience`,
      )
    },
  }
}
