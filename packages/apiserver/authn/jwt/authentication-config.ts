import { configError, parseConfig, type ConfigOf } from '../../config-file/config-shape.ts'

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

/** One issuer of tokens and what its claims mean; upstream's JWTAuthenticator. */
export type JwtIssuerConfig = ConfigOf<typeof jwtShape> & {
  /** Not in upstream's file: from the flag. Default: RS256 for flags, all for files. */
  readonly signingAlgorithms?: readonly string[]
}

export interface AuthenticationConfig {
  readonly jwt: readonly JwtIssuerConfig[]
  /** Undefined: as the server would without the file. */
  readonly anonymous?: { readonly isEnabled: boolean; readonly paths?: readonly string[] }
}

const issuersMax = 64

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
  if (jwt.length > issuersMax) throw refusal('jwt', `must have at most ${issuersMax} items`)
  jwt.forEach((each, at) => checkIssuer(each, `jwt[${at}]`, jwt.slice(0, at)))
  if (!anonymous) return { jwt }
  const isEnabled = anonymous.enabled ?? false
  const paths = anonymous.conditions?.map(({ path = '' }) => path)
  if (!isEnabled && paths?.length) {
    throw refusal(
      'anonymous.conditions',
      'enabled should be set to true when conditions are defined',
    )
  }
  return { jwt, anonymous: { isEnabled, ...(paths?.length ? { paths } : {}) } }
}

function checkIssuer(
  each: JwtIssuerConfig,
  path: string,
  earlier: readonly JwtIssuerConfig[],
): void {
  const { issuer = {}, claimMappings = {} } = each
  const { url = '', audiences = [] } = issuer
  checkUrl(url, `${path}.issuer.url`)
  if (issuer.discoveryURL) checkUrl(issuer.discoveryURL, `${path}.issuer.discoveryURL`)
  if (earlier.some((other) => other.issuer?.url === url)) {
    throw refusal(`${path}.issuer.url`, `Duplicate value: ${JSON.stringify(url)}`)
  }
  if (audiences.length === 0) {
    throw refusal(`${path}.issuer.audiences`, 'Required value: at least one audiences is required')
  }
  if (audiences.length > 1 && issuer.audienceMatchPolicy !== 'MatchAny') {
    throw refusal(
      `${path}.issuer.audienceMatchPolicy`,
      'audienceMatchPolicy must be MatchAny for multiple audiences',
    )
  }
  const { username } = claimMappings
  const place = `${path}.claimMappings.username`
  if (!username?.claim && !username?.expression) {
    throw refusal(place, 'Required value: claim or expression is required')
  }
  if (username.claim && username.expression) {
    throw refusal(place, "claim and expression can't both be set")
  }
  if (username.claim && username.prefix === undefined) {
    throw refusal(
      `${place}.prefix`,
      'Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    )
  }
  const { groups } = claimMappings
  if (groups?.claim && groups.prefix === undefined) {
    throw refusal(
      `${path}.claimMappings.groups.prefix`,
      'Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    )
  }
}

function checkUrl(text: string, path: string): void {
  if (text === '') throw refusal(path, 'Required value: URL is required')
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw refusal(path, 'URL scheme must be https')
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw refusal(path, 'URL must not contain a username, password, query or fragment')
  }
}

function refusal(path: string, reason: string) {
  return configError(kind, `${path}: ${reason}`)
}
