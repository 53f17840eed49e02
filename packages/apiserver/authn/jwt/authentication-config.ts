import { configError, parseConfig, type ConfigOf } from '../../config-file/config-shape.ts'
import { checkIssuers } from './check-issuers.ts'

const kind = 'AuthenticationConfiguration'
const claimOrExpression = { fields: { claim: 'string', expression: 'string' } } as const
const prefixed = {
  fields: { claim: 'string', prefix: 'string', expression: 'string' },
} as const
const issuerShape = {
  fields: {
    url: 'string',
    discoveryURL: 'string',
    certificateAuthority: 'string',
    audiences: { list: 'string' },
    audienceMatchPolicy: 'string',
  },
} as const
const jwtShape = {
  fields: {
    issuer: issuerShape,
    claimValidationRules: {
      list: {
        fields: {
          claim: 'string',
          requiredValue: 'string',
          expression: 'string',
          message: 'string',
        },
      },
    },
    claimMappings: {
      fields: {
        username: prefixed,
        groups: prefixed,
        uid: claimOrExpression,
        extra: { list: { fields: { key: 'string', valueExpression: 'string' } } },
      },
    },
    userValidationRules: { list: { fields: { expression: 'string', message: 'string' } } },
  },
} as const
const anonymousShape = {
  fields: { enabled: 'boolean', conditions: { list: { fields: { path: 'string' } } } },
} as const

/** One token issuer and the meaning of its claims (upstream's JWTAuthenticator). */
export type JwtIssuerConfig = ConfigOf<typeof jwtShape> & {
  /** Comes from the flag; upstream's file does not have it. Default: RS256 for flags, all for files. */
  readonly signingAlgorithms?: readonly string[]
}

export interface AuthenticationConfig {
  readonly jwt: readonly JwtIssuerConfig[]
  /** If omitted, the server behaves as without the file. */
  readonly anonymous?: { readonly isEnabled: boolean; readonly paths?: readonly string[] }
}

/** Reads upstream's apiserver.config.k8s.io AuthenticationConfiguration. Throws ExpectedError. */
export function readAuthenticationConfig(text: string): AuthenticationConfig {
  const config = parseConfig(text, {
    kind,
    apiVersions: [
      'apiserver.config.k8s.io/v1',
      'apiserver.config.k8s.io/v1beta1',
      'apiserver.config.k8s.io/v1alpha1',
    ],
    fields: { jwt: { list: jwtShape }, anonymous: anonymousShape },
  })
  const { jwt = [], anonymous } = config
  const isEnabled = anonymous?.enabled ?? false
  const paths = anonymous?.conditions?.map(({ path = '' }) => path)
  const problems = checkIssuers(jwt)
  if (!isEnabled && paths?.length) {
    problems.invalid(
      'anonymous.conditions',
      paths.join(),
      'enabled should be set to true when conditions are defined',
    )
  }
  const summary = problems.summary()
  if (summary !== undefined) throw configError(kind, summary)
  if (!anonymous) return { jwt }
  return { jwt, anonymous: { isEnabled, ...(paths?.length ? { paths } : {}) } }
}
