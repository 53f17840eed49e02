import { X509Certificate } from 'node:crypto'
import { StatusError } from '@skerry/api'
import type { AuthorizedRequest, Authorizer, Route, UserInfo } from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { isIssuedBy, readCertificate, signCertificate, type Authority } from '@skerry/pki'
import { userNameProblem } from '@skerry/fleet-kinds'
import { gatewayBounds } from '../limits-table.ts'

export const certificateRenewalPath = '/hub/v1/certificate-renewal'

/** The answer to POST of that path. */
export interface RenewedCertificate {
  /** PEM for the same user and the same key. */
  readonly certificate: string
}

export interface CertificateRenewalDeps {
  readonly authority: Authority
  /** The time by which certificates are backdated, in milliseconds, for clocks that are behind. */
  readonly backdateMs: number
  readonly clock: Pick<Clock, 'now'>
}

const { usedMin } = gatewayBounds.certificateRenewal

/**
 * Issues the next certificate to a client that presents one: for the same user, groups, key and lifetime. The
 * new certificate grants nothing that the old one did not; it only lasts longer. TLS has proven that the
 * client has the key.
 */
export function certificateRenewalRoute(deps: CertificateRenewalDeps): Route {
  return {
    prefix: certificateRenewalPath,
    matches: ({ path }) => path === certificateRenewalPath,
    async serve(admitted) {
      if (admitted.info.method !== 'POST') {
        throw new StatusError('MethodNotAllowed', 'Cannot renew certificate: use POST')
      }
      const answer: RenewedCertificate = { certificate: await renewed(admitted, deps) }
      return {
        status: 201,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(`${JSON.stringify(answer)}\n`),
      }
    },
  }
}

/** Allows every authenticated user to ask; the answer depends on the certificate of the connection. */
export const certificateRenewalAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && verb === 'post' && path === certificateRenewalPath
    const isKnown = user.groups.includes('system:authenticated')
    return { verdict: isAsked && isKnown ? 'allow' : 'no-opinion', reason: '' }
  },
})

async function renewed(
  { request, user }: AuthorizedRequest,
  { authority, backdateMs, clock }: CertificateRenewalDeps,
): Promise<string> {
  const [der] = request.peer.type === 'socket' ? request.peer.certificates : []
  if (!der) throw refused('you presented none')
  const presented = new X509Certificate(der)
  const certificate = readCertificate(der)
  if (!isIssuedBy(presented.toString(), authority.certificatePem))
    throw refused('this hub did not issue it')
  if (!isUserOf(certificate, user)) throw refused('it names another user')
  const { commonName, organizations, notBeforeMs, notAfterMs } = certificate
  for (const name of [commonName, ...organizations]) {
    const problem = userNameProblem(name)
    if (problem !== '') throw refused(`${JSON.stringify(name)} ${problem}`)
  }
  const nowMs = clock.now()
  const fromMs = notBeforeMs + (notAfterMs - notBeforeMs) * usedMin
  if (nowMs < fromMs) throw refused(`it is renewed from ${new Date(fromMs).toISOString()} on`)
  return signCertificate(authority, {
    subject: { commonName, organizations },
    publicKeyPem: presented.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    notBeforeMs: nowMs - backdateMs,
    notAfterMs: nowMs - backdateMs + (notAfterMs - notBeforeMs),
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
}

/**
 * Reports whether this very certificate authenticated the user, rather than a token in the same request or
 * impersonation.
 */
function isUserOf({ commonName, fingerprint }: Identity, user: UserInfo): boolean {
  const ids = user.extra['authentication.kubernetes.io/credential-id'] ?? []
  return user.name === commonName && ids.length === 1 && ids[0] === `X509SHA256=${fingerprint}`
}

type Identity = Pick<ReturnType<typeof readCertificate>, 'commonName' | 'fingerprint'>

function refused(why: string): StatusError {
  return new StatusError('Forbidden', `Cannot renew certificate: ${why}`)
}
