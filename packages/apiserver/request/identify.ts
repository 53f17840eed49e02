import { StatusError } from '@skerry/api'
import type { Authenticator, Credentials, UserInfo } from '../contract/access.ts'
import type { Impersonation } from '../authn/impersonation.ts'
import type { ApiRequest } from '../contract/exchange.ts'
import type { RequestAttributes } from '../contract/request-attributes.ts'

export interface Caller {
  readonly user: UserInfo
  /** The user who impersonates `user`, if any. */
  readonly impersonator: UserInfo | undefined
}

const anonymous: UserInfo = Object.freeze({
  name: 'system:anonymous',
  groups: Object.freeze(['system:unauthenticated']),
  extra: Object.freeze({}),
})

/**
 * Determines the caller and whom it impersonates. Calls `onAsker` with the caller before it is
 * known whether it may impersonate; `own` returns what the request asks for. Throws StatusError
 * Unauthorized or Forbidden.
 */
export async function identify(
  request: ApiRequest & Pick<Credentials, 'isRepeat'>,
  access: { authenticators: readonly Authenticator[]; impersonation?: Impersonation | undefined },
  onAsker: (asker: UserInfo) => void,
  own?: () => RequestAttributes,
): Promise<Caller> {
  const asker = await authenticate(request, access.authenticators)
  onAsker(asker)
  if (!access.impersonation) return { user: asker, impersonator: undefined }
  const user = await access.impersonation.apply(asker, request.fields(), request.target, own)
  return { user, impersonator: user === asker ? undefined : asker }
}

async function authenticate(
  { peer, headers, fields, target, signal, isRepeat }: ApiRequest & Pick<Credentials, 'isRepeat'>,
  authenticators: readonly Authenticator[],
): Promise<UserInfo> {
  if (peer.type === 'process') return peer.user
  const [path = ''] = target.split('?', 1)
  const credentials = {
    headers,
    fields,
    clientCertificates: peer.certificates,
    path,
    sourceAddress: peer.address,
    ...(isRepeat === true ? { isRepeat } : {}),
  }
  let user: UserInfo = anonymous
  for (const authenticator of authenticators) {
    const found = await authenticator.authenticate(credentials, signal)
    if (!found) continue
    user = found.user
    break
  }
  // A bad certificate is ignored only if other credentials identify the caller.
  if (user.name === anonymous.name && peer.isCertificateBad) {
    throw new StatusError('Unauthorized', 'Unauthorized')
  }
  return user
}
