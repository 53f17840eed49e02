import { readVerificationKey, toKeySet } from './service-account-keys.ts'

export interface IssuerDiscoveryOptions {
  readonly issuer: string
  readonly keyPems: readonly string[]
  /** The absolute URL of the key set. */
  readonly keySetUrl: string
}

/** One static document that the API server serves. */
export interface IssuerDocument {
  readonly path: string
  readonly contentType: string
  readonly body: string
}

/**
 * Serves OpenID Connect discovery for service account tokens: programs that verify them elsewhere
 * (a cloud, a registry, another cluster) find the issuer's keys here.
 */
export function issuerDocuments(options: IssuerDiscoveryOptions): IssuerDocument[] {
  const keys = options.keyPems.map(readVerificationKey)
  const configuration = {
    issuer: options.issuer,
    jwks_uri: options.keySetUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map((key) => key.algorithm))].sort(),
  }
  return [
    {
      path: '/.well-known/openid-configuration',
      contentType: 'application/json',
      body: JSON.stringify(configuration),
    },
    {
      path: '/openid/v1/jwks',
      contentType: 'application/jwk-set+json',
      body: JSON.stringify(toKeySet(keys)),
    },
  ]
}
