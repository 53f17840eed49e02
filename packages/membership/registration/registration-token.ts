import {
  bootstrapNamespace,
  bootstrapSecretName,
  isStatusError,
  type CertificateSigningRequest,
} from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import { registrationKeys } from './registration-keys.ts'
import { membershipBounds } from '../limits-table.ts'

const tokenUserPrefix = 'system:bootstrap:'

/**
 * Binds the token to the first key that registers with it. Resolves undefined if this key may register, else
 * with the reason against it. A copied token is then useless by itself: a request with another key waits for
 * a person. Two that come at once compete for one write of the Secret, which one of them wins.
 */
export async function bindToken(
  hub: Pick<ClusterClient, 'resource'>,
  { csr, fingerprint }: { csr: CertificateSigningRequest; fingerprint: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const secrets = hub.resource(resources.secrets)
  const secret = await ifFound(secrets.get(tokenKeyOf(csr), signal))
  if (secret === undefined) return 'its token was deleted'
  const { annotations = {} } = secret.metadata
  const usedBy = annotations[registrationKeys.usedBy]
  const user = `key ${fingerprint}`
  if (usedBy === user) return undefined
  if (usedBy !== undefined) return `its token was used before, by ${usedBy}`
  const marked = { ...annotations, [registrationKeys.usedBy]: user }
  await secrets.update({ ...secret, metadata: { ...secret.metadata, annotations: marked } }, signal)
  return undefined
}

const { lastLookMs } = membershipBounds.registrationToken
const rejected = 'nobody: a person rejected it'

/** Voids the token with which this request was made, and ends it in a minute. */
export async function voidTokenOf(
  hub: Pick<ClusterClient, 'resource'>,
  { csr, nowMs }: { csr: CertificateSigningRequest; nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const secrets = hub.resource(resources.secrets)
  const expiration = Buffer.from(new Date(nowMs + lastLookMs).toISOString()).toString('base64')
  const patch = {
    metadata: { annotations: { [registrationKeys.usedBy]: rejected } },
    data: { expiration },
  }
  await ifFound(secrets.patch({ ...tokenKeyOf(csr), type: 'merge', patch }, signal))
}

function tokenKeyOf({ spec }: CertificateSigningRequest): { namespace: string; name: string } {
  const id = (spec?.username ?? '').slice(tokenUserPrefix.length)
  return { namespace: bootstrapNamespace, name: bootstrapSecretName(id) }
}

async function ifFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
