import type { Clock } from '@skerry/base'
import { readNodeToken, type NodeToken } from '@skerry/pki'
import { checkDates, userOfClaims } from '../authn/service-account-authenticator.ts'
import {
  readClaims,
  type BoundReference,
  type ServiceAccountClaims,
} from '../authn/service-account-claims.ts'
import { TokenError, type TokenAuthenticator } from '../authn/token-authenticator.ts'
import { extraKeys } from '../contract/user-names.ts'
import { apiServerBounds } from '../limits-table.ts'

const { secondsMax } = apiServerBounds.nodeTokenVerifier

/** The claims of a token that a node has signed: always of one pod on that node, and for one audience. */
export interface NodeTokenClaims extends ServiceAccountClaims {
  readonly pod: BoundReference
  readonly node: BoundReference
  /** The certificate in the token, whose key has signed it. */
  readonly certificatePem: string
}

export interface NodeTokenVerifierOptions {
  readonly clock: Clock
  /** Throws TokenError unless the node may speak for this pod, with this certificate, to this audience. */
  readonly check: (claims: NodeTokenClaims, signal: AbortSignal) => Promise<void> | void
}

/**
 * Authenticates tokens that nodes sign while their control plane is away. They live for an hour at most, whatever they
 * say, and their users are marked.
 */
export function createNodeTokenVerifier({
  clock,
  check,
}: NodeTokenVerifierOptions): TokenAuthenticator {
  return {
    async authenticateToken(token, audiences, signal) {
      const read = readOrRefuse(token)
      if (!read) return undefined
      const claims = claimsOf(read)
      const [audience = ''] = claims.audiences
      if (!audiences.includes(audience)) {
        throw new TokenError('the token of a node is for another audience')
      }
      checkDates(claims, clock.now())
      await check(claims, signal)
      const user = userOfClaims(claims)
      const extra = { ...user.extra, [extraKeys.signedByNode]: [claims.node.name] }
      return { user: { ...user, extra }, audiences: [audience] }
    },
  }
}

function readOrRefuse(token: string): NodeToken | undefined {
  try {
    return readNodeToken(token)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new TokenError(error.message, { cause: error })
  }
}

function claimsOf({ nodeName, certificatePem, payload }: NodeToken): NodeTokenClaims {
  const claims = readClaims(payload)
  const { iat } = payload
  if (!claims?.pod?.uid || claims.node?.name !== nodeName || claims.secret) {
    throw new TokenError('the token of a node is not bound to a pod on it')
  }
  if (claims.audiences.length !== 1) throw new TokenError('the token of a node has one audience')
  if (typeof iat !== 'number' || claims.expiresAt - iat > secondsMax || claims.notBefore < iat) {
    throw new TokenError('the token of a node is good for more than an hour')
  }
  const { pod, node } = claims
  return { ...claims, pod, node, certificatePem }
}
