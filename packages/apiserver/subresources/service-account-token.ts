import {
  StatusError,
  fieldInvalid,
  type AnyObject,
  type BoundObjectReference,
  type GroupResource,
  type KubeObject,
  type Node,
  type Pod,
  type ServiceAccount,
  type TokenRequest,
} from '@skerry/api'
import type { Clock } from '@skerry/base'
import { referenceTo, type BoundReference } from '../authn/service-account-claims.ts'
import type { TokenIssuer } from '../authn/token-issuer.ts'
import type { Objects } from '../contract/objects.ts'
import { apiTime, conflict, invalidObject, notFound } from '../contract/status-answers.ts'
import type { SubresourceHandler } from '../contract/subresource.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface TokenSubresourceOptions {
  readonly tokenIssuer: TokenIssuer
  /** The audiences of tokens that request none. */
  readonly audiences: readonly string[]
}

/** The kind named in refusals of the request itself. */
const requestKind = Object.freeze({ group: 'authentication.k8s.io', kind: 'TokenRequest' })
const { secondsMin, secondsMax, extendedSeconds } = apiServerBounds.serviceAccountToken
const secondsDefault = 3600
/** Injected tokens request this duration. They live a year for old clients that never read the file again. */
const injectedSeconds = 3607

/** Serves serviceaccounts/token: creates a temporary token, bound to a pod, secret or node if requested. */
export function createTokenHandler(
  options: TokenSubresourceOptions,
  clock: Clock,
): SubresourceHandler {
  return {
    async serve({ object, namespace, name, objects, admit, admitValid }) {
      if (!object) throw new StatusError('BadRequest', 'a TokenRequest is required')
      await admit(object)
      const account = getTyped<ServiceAccount>(objects, wellKnown.serviceAccounts, {
        namespace,
        name,
      })
      if (!account) throw notFound(wellKnown.serviceAccounts, name)
      const nowMs = clock.now()
      const asked = completeRequest(object, account, options.audiences, nowMs)
      checkLifetime(asked.expirationSeconds)
      await admitValid(object)
      const bound = findBound(asked.boundObjectRef, objects, { namespace, name })
      const lifetime = lifetimeOf(asked, bound, options.audiences)
      const token = await options.tokenIssuer.issue({
        namespace,
        serviceAccount: referenceTo(account.metadata),
        ...bound,
        audiences: asked.audiences,
        lifetimeSeconds: lifetime.seconds,
        ...(lifetime.warnAfterSeconds === undefined
          ? {}
          : { warnAfter: Math.floor(nowMs / 1000) + lifetime.warnAfterSeconds }),
      })
      const expiresAtMs = nowMs + asked.expirationSeconds * 1000
      const status = { token, expirationTimestamp: apiTime(expiresAtMs) }
      // Upstream's type cannot omit the reference.
      const spec = { ...asked, boundObjectRef: asked.boundObjectRef ?? null }
      return { type: 'object', status: 201, object: { ...object, spec, status } }
    },
  }
}

interface AskedToken {
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly boundObjectRef?: BoundObjectReference | null | undefined
}

/** Fills in omitted fields. Refuses a body that names another account. */
function completeRequest(
  object: AnyObject,
  account: ServiceAccount,
  audiences: readonly string[],
  nowMs: number,
): AskedToken {
  const request = typed<TokenRequest>(object)
  const { name = '', namespace = '', uid = '' } = account.metadata
  for (const [field, value] of Object.entries({ name, namespace })) {
    const asked = request.metadata[field === 'name' ? 'name' : 'namespace']
    if (!asked || asked === value) continue
    const why = `must match the service account ${field} if specified`
    throw invalidObject(requestKind, name, [fieldInvalid(`metadata.${field}`, asked, why)])
  }
  if (request.metadata.uid && request.metadata.uid !== uid) {
    throw conflict(
      { group: requestKind.group, resource: requestKind.kind },
      name,
      `the UID in the token request (${request.metadata.uid}) does not match the UID of the service account (${uid})`,
    )
  }
  Object.assign(request.metadata, { name, namespace, uid, creationTimestamp: apiTime(nowMs) })
  const wanted = request.spec?.audiences ?? []
  const asked = {
    ...request.spec,
    audiences: wanted.length > 0 ? wanted : [...audiences],
    expirationSeconds: request.spec?.expirationSeconds ?? secondsDefault,
  }
  request.spec = asked
  return asked
}

function checkLifetime(seconds: number): void {
  const why =
    seconds < secondsMin
      ? 'may not specify a duration less than 10 minutes'
      : 'may not specify a duration larger than 2^32 seconds'
  if (seconds >= secondsMin && seconds <= secondsMax) return
  throw invalidObject(requestKind, '', [fieldInvalid('spec.expirationSeconds', seconds, why)])
}

interface Bound {
  readonly pod?: BoundReference
  readonly secret?: BoundReference
  readonly node?: BoundReference
}

function findBound(
  reference: BoundObjectReference | null | undefined,
  objects: Objects,
  account: { namespace: string; name: string },
): Bound {
  if (!reference) return {}
  const { apiVersion = '', kind = '', name = '' } = reference
  const isCore = !apiVersion.includes('/')
  const { namespace } = account
  if (isCore && kind === 'Pod') {
    const pod = find<Pod>(objects, wellKnown.pods, { namespace, name })
    if (pod.spec?.serviceAccountName !== account.name) {
      throw new StatusError(
        'BadRequest',
        `cannot bind token for serviceaccount ${JSON.stringify(account.name)} to pod running with different serviceaccount name.`,
      )
    }
    checkUid(reference, pod)
    return { pod: referenceTo(pod.metadata), ...nodeOf(pod, objects) }
  }
  if (isCore && kind === 'Node') {
    const node = find<Node>(objects, wellKnown.nodes, { namespace: '', name })
    checkUid(reference, node)
    return { node: referenceTo(node.metadata) }
  }
  if (isCore && kind === 'Secret') {
    const secret = find<KubeObject>(objects, wellKnown.secrets, { namespace, name })
    checkUid(reference, secret)
    return { secret: referenceTo(secret.metadata) }
  }
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  throw new StatusError(
    'BadRequest',
    `cannot bind token to object of type ${group}/${version}, Kind=${kind}`,
  )
}

/** Returns the pod's node for the token, with its uid if the node is known. */
function nodeOf(pod: Pod, objects: Objects): Bound {
  const name = pod.spec?.nodeName
  if (!name) return {}
  const node = getTyped<Node>(objects, wellKnown.nodes, { name })
  return { node: node ? referenceTo(node.metadata) : { name, uid: '' } }
}

function find<T extends KubeObject>(
  objects: Objects,
  resource: GroupResource,
  key: { namespace: string; name: string },
): T {
  const found = getTyped<T>(objects, resource, key)
  if (!found) throw notFound(resource, key.name)
  return found
}

function checkUid(reference: BoundObjectReference, { metadata }: KubeObject): void {
  if (!reference.uid || reference.uid === metadata.uid) return
  throw conflict(
    { group: '', resource: reference.kind ?? '' },
    reference.name ?? '',
    `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
  )
}

/** Decides how long the token is valid, and from when its use is reported as stale. */
function lifetimeOf(
  asked: AskedToken,
  bound: Bound,
  audiences: readonly string[],
): { seconds: number; warnAfterSeconds?: number } {
  const seconds = asked.expirationSeconds
  const isOurs = asked.audiences.every((audience) => audiences.includes(audience))
  if (bound.pod === undefined || seconds !== injectedSeconds || !isOurs) return { seconds }
  return { seconds: extendedSeconds, warnAfterSeconds: seconds }
}
