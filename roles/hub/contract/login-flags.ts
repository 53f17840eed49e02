import type { LoginOffer } from '@skerry/gateway'
import type { OpenHub } from './hub-part.ts'

export interface LoginFlags {
  /** A public client of one of the hub's issuers. Default: the hub does not say where its users log in. */
  loginClientId?: string | undefined
  loginScope?: readonly string[] | undefined
  /** True: a user with a certificate of the hub gets the next one by it. */
  renewUserCertificates?: boolean | undefined
}

/** Returns where people log in now: those of the issuers that have the client as an audience. */
export function loginOffersOf(
  { loginClientId: clientId, loginScope: scopes = [] }: LoginFlags,
  issuers: ReturnType<OpenHub['issuers']>,
): LoginOffer[] {
  if (clientId === undefined) return []
  return issuers.flatMap(({ url, audiences, certificateAuthority }) => {
    if (url === undefined || audiences?.includes(clientId) !== true) return []
    const ca = certificateAuthority ? { certificateAuthority } : {}
    return { issuerUrl: url, clientId, scopes, ...ca }
  })
}
