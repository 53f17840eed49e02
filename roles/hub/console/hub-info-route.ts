import type { Route } from '@skerry/apiserver'
import { validityOf } from '@skerry/pki'
import { jsonAnswer } from '@skerry/console-api'
import { advertised } from '../../runtime/host-addresses.ts'
import { version } from '../../runtime/version.ts'
import type { OpenHub } from '../contract/hub-part.ts'
import { asksAsUser, notAllowed } from './user-hub.ts'

const infoPath = '/hub/v1/hub'

/** The answer to GET of the path. Everything in it is public, or shown to everybody who connects. */
interface HubInfo {
  readonly version: string
  /** The address that the hub tells agents and machines. */
  readonly server: string
  /** PEM. */
  readonly certificateAuthority: string
  /** The ends in RFC 3339. */
  readonly certificates: { readonly authority: string; readonly serving: string }
  /** The replica that answers; null if there is only one. */
  readonly replica: string | null
}

/** Says which hub this is, to every user: kubeconfig files need it, and people look at the ends of certificates. */
export function hubInfoRoute({ server, presentPki, connections }: OpenHub): Route {
  return {
    prefix: infoPath,
    matches: ({ path }) => path === infoPath,
    async serve({ info }) {
      if (info.method !== 'GET') throw notAllowed()
      const { authority, serving } = presentPki()
      const end = (pem: string): string => new Date(validityOf(pem).notAfterMs).toISOString()
      const answer: HubInfo = {
        version,
        server: advertised(server.address),
        certificateAuthority: authority.certificatePem,
        certificates: {
          authority: end(authority.certificatePem),
          serving: end(serving.certificatePem),
        },
        replica: connections.replicas.self()?.id ?? null,
      }
      return jsonAnswer(200, answer)
    },
  }
}

export const hubInfoAuthorizer = asksAsUser(['get'], (path) => path === infoPath)
