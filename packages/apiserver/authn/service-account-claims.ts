import type { ObjectMeta } from '@skerry/api'

/** A reference that survives a delete and re-create only if the uid still matches. */
export interface BoundReference {
  readonly name: string
  readonly uid: string
}

/** The claims of a service account token that Kubernetes defines. */
export interface ServiceAccountClaims {
  readonly namespace: string
  readonly serviceAccount: BoundReference
  readonly pod?: BoundReference
  readonly secret?: BoundReference
  readonly node?: BoundReference
  /** Seconds since the Unix epoch, after which use of the token is reported as stale. */
  readonly warnAfter?: number
  /** The token's jti. */
  readonly id?: string
  readonly audiences: readonly string[]
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number
  readonly notBefore: number
}

/** Builds the `kubernetes.io` claim of the payload. */
export function toPrivateClaims(claims: ServiceAccountClaims): Record<string, unknown> {
  return {
    namespace: claims.namespace,
    serviceaccount: claims.serviceAccount,
    ...(claims.node ? { node: claims.node } : {}),
    ...(claims.pod ? { pod: claims.pod } : {}),
    ...(claims.secret ? { secret: claims.secret } : {}),
    ...(claims.warnAfter === undefined ? {} : { warnafter: claims.warnAfter }),
  }
}

/** Returns undefined if the payload is not from a service account token. */
export function readClaims(
  payload: Readonly<Record<string, unknown>>,
): ServiceAccountClaims | undefined {
  const own = asRecord(payload['kubernetes.io'])
  const serviceAccount = readReference(own?.serviceaccount)
  if (!own || typeof own.namespace !== 'string' || !serviceAccount) return undefined
  if (typeof payload.exp !== 'number') return undefined
  const { warnafter } = own
  const pod = readReference(own.pod)
  const secret = readReference(own.secret)
  const node = readReference(own.node)
  return {
    namespace: own.namespace,
    serviceAccount,
    ...(pod ? { pod } : {}),
    ...(secret ? { secret } : {}),
    ...(node ? { node } : {}),
    ...(typeof warnafter === 'number' ? { warnAfter: warnafter } : {}),
    ...(typeof payload.jti === 'string' ? { id: payload.jti } : {}),
    audiences: [payload.aud].flat().filter((audience) => typeof audience === 'string'),
    expiresAt: payload.exp,
    notBefore: typeof payload.nbf === 'number' ? payload.nbf : 0,
  }
}

export function referenceTo(metadata: ObjectMeta): BoundReference {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '' }
}

function readReference(value: unknown): BoundReference | undefined {
  const record = asRecord(value)
  if (typeof record?.name !== 'string') return undefined
  return { name: record.name, uid: typeof record.uid === 'string' ? record.uid : '' }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  // Any JSON object is a record of unknown values.
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)
    : undefined
}
