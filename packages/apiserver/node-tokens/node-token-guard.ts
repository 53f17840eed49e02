import type { Authorizer } from '../contract/access.ts'
import { extraKeys } from '../contract/user-names.ts'

/** Keeps a token that a node has signed from bringing other tokens: those would outlive the hour that it has. */
export const nodeTokenGuard: Authorizer = Object.freeze({
  async authorize({ user, resource, subresource }) {
    const isTokenRequest = resource?.resource === 'serviceaccounts' && subresource === 'token'
    if (!isTokenRequest || user.extra[extraKeys.signedByNode] === undefined) return noOpinion
    const reason = 'a token that a node has signed brings no other; use one of the control plane'
    return { verdict: 'deny', reason }
  },
} satisfies Authorizer)

const noOpinion = Object.freeze({ verdict: 'no-opinion', reason: '' } as const)
