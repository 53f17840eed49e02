import { createHash, X509Certificate } from 'node:crypto'
import type { Node, Pod } from '@skerry/api'
import type { Clock } from '@skerry/base'
import { decodePem, isIssuedBy } from '@skerry/pki'
import { BoundedCache } from '../authn/bounded-cache.ts'
import { checkBindings } from '../authn/service-account-authenticator.ts'
import { TokenError, type TokenAuthenticator } from '../authn/token-authenticator.ts'
import { tokenProblem } from '../admission-plugins/node-tokens.ts'
import type { Authenticator, Authorizer, UserInfo } from '../contract/access.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped } from '../contract/typed-objects.ts'
import { nodeNameOf } from '../contract/user-names.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { apiServerBounds } from '../limits-table.ts'
import { createNodeTokenVerifier, type NodeTokenClaims } from './node-token-verifier.ts'

export interface NodeTokenRules {
  /** PEM of the authority that signs the certificates of nodes. */
  readonly authorityPem: string
  /** Returns true if the Node names the key of this certificate as its own. */
  readonly isKeyOf: (node: Node, certificatePem: string) => boolean
}

export interface NodeTokenDeps {
  /** The server's check of client certificates. */
  readonly certificates: Authenticator
  readonly authorizer: Authorizer
  readonly objects: Objects
  /** The audience of tokens that request none. */
  readonly issuer: string
  readonly clock: Clock
}

const { issuedCertificates } = apiServerBounds.nodeTokenAuthenticator

/**
 * Accepts tokens that nodes of this cluster have signed for their pods. Each is accepted exactly as long as its node
 * could get the same token by a TokenRequest, so that a stolen key of a node gains nothing by them. The node, its key,
 * its rights, the pod and the account are looked up at every use.
 */
export function createNodeTokenAuthenticator(
  { authorityPem, isKeyOf }: NodeTokenRules,
  deps: NodeTokenDeps,
): TokenAuthenticator {
  const { objects, clock } = deps
  const issued = new BoundedCache<true>(issuedCertificates, clock)
  const isOurs = (certificatePem: string): boolean => {
    const key = createHash('sha256').update(certificatePem).digest('base64')
    if (issued.get(key)) return true
    const isIssued = decodePem(authorityPem).some((pem) => isIssuedBy(certificatePem, pem))
    // Strangers may send any number of others.
    if (isIssued) issued.set(key, true)
    return isIssued
  }
  return createNodeTokenVerifier({
    clock,
    async check(claims, signal) {
      if (!isOurs(claims.certificatePem)) {
        throw new TokenError('this server did not issue the certificate of the token')
      }
      const user = await userOf(claims.certificatePem, deps.certificates, signal)
      if (nodeNameOf(user) !== claims.node.name) {
        throw new TokenError('the certificate of the token is not of its node')
      }
      const node = getTyped<Node>(objects, wellKnown.nodes, { name: claims.node.name })
      const isSame = claims.node.uid === '' || claims.node.uid === node?.metadata.uid
      if (!node || !isSame || !isKeyOf(node, claims.certificatePem)) {
        throw new TokenError('there is no node with the key of the token')
      }
      checkBindings(claims, objects, clock.now())
      await checkNode(claims, user, deps)
    },
  })
}

async function userOf(
  certificatePem: string,
  certificates: Authenticator,
  signal: AbortSignal,
): Promise<UserInfo> {
  const shown = { headers: {}, clientCertificates: [new X509Certificate(certificatePem).raw] }
  try {
    const found = await certificates.authenticate(shown, signal)
    if (found) return found.user
  } catch (cause) {
    signal.throwIfAborted()
    throw new TokenError('the certificate of the token is not accepted', { cause })
  }
  throw new TokenError('the certificate of the token names nobody')
}

/** Throws TokenError unless the node could request this token now. */
async function checkNode(
  { namespace, serviceAccount, pod: bound, node, audiences }: NodeTokenClaims,
  user: UserInfo,
  { authorizer, objects, issuer }: NodeTokenDeps,
): Promise<void> {
  const pod = getTyped<Pod>(objects, wellKnown.pods, { namespace, name: bound.name })
  if (pod?.spec?.serviceAccountName !== serviceAccount.name) {
    throw new TokenError('the pod of the token runs as another account')
  }
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'create',
    isResourceRequest: true,
    resource: { ...wellKnown.serviceAccounts, version: 'v1' },
    subresource: 'token',
    namespace,
    name: serviceAccount.name,
    path: '',
  })
  if (verdict !== 'allow') throw new TokenError('the node may not request tokens of this account')
  const asked = {
    user,
    nodeName: node.name,
    namespace,
    account: serviceAccount.name,
    reference: { apiVersion: 'v1', kind: 'Pod', ...bound },
    // A token that requests no audience has the issuer as its audience.
    audiences: audiences[0] === issuer && !wantsByName(pod, issuer) ? [] : audiences,
  }
  const problem = await tokenProblem(asked, { objects, authorizer })
  if (problem !== undefined) throw new TokenError(problem)
}

function wantsByName({ spec }: Pod, audience: string): boolean {
  const sources = (spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  return sources.some(({ serviceAccountToken }) => serviceAccountToken?.audience === audience)
}
