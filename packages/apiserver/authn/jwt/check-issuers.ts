import { FieldProblems } from '../../config-file/field-problems.ts'
import type { JwtIssuerConfig } from './authentication-config.ts'
import { expressionProblem, readsClaim, type ExpressionSubject } from './claim-expressions.ts'
import { apiServerBounds } from '../../limits-table.ts'

type Mappings = NonNullable<JwtIssuerConfig['claimMappings']>
type Mapping = NonNullable<Mappings['username']>

const { issuersMax } = apiServerBounds.checkIssuers
const exclusive = "claim and expression can't both be set"

/** Lists every error in the issuers of an AuthenticationConfiguration, in upstream's words. */
export function checkIssuers(jwt: readonly JwtIssuerConfig[]): FieldProblems {
  const problems = new FieldProblems()
  if (jwt.length > issuersMax) {
    problems.invalid('jwt', String(jwt.length), `must have at most ${issuersMax} items`)
  }
  const urls = new Set<string>()
  const discoveryUrls = new Set<string>()
  for (const [at, each] of jwt.entries()) {
    const path = `jwt[${at}]`
    const { url = '', discoveryURL = '' } = each.issuer ?? {}
    checkIssuer(each.issuer ?? {}, `${path}.issuer`, problems)
    checkClaimRules(each, `${path}.claimValidationRules`, problems)
    checkMappings(each, `${path}.claimMappings`, problems)
    checkUserRules(each, `${path}.userValidationRules`, problems)
    if (urls.has(url)) problems.duplicate(`${path}.issuer.url`, url)
    urls.add(url)
    if (discoveryURL !== '' && discoveryUrls.has(discoveryURL)) {
      problems.duplicate(`${path}.issuer.discoveryURL`, discoveryURL)
    }
    discoveryUrls.add(discoveryURL)
  }
  return problems
}

function checkIssuer(
  issuer: NonNullable<JwtIssuerConfig['issuer']>,
  path: string,
  problems: FieldProblems,
): void {
  const { url = '', discoveryURL = '', audiences = [], audienceMatchPolicy = '' } = issuer
  if (url === '') problems.required(`${path}.url`)
  else checkUrl(url, `${path}.url`, problems)
  if (discoveryURL !== '') {
    if (url.replace(/\/+$/, '') === discoveryURL.replace(/\/+$/, '')) {
      const detail = 'discoveryURL must be different from URL'
      problems.invalid(`${path}.discoveryURL`, discoveryURL, detail)
    }
    checkUrl(discoveryURL, `${path}.discoveryURL`, problems)
  }
  if (audiences.length === 0) {
    problems.required(`${path}.audiences`, `at least one ${path}.audiences is required`)
    return
  }
  for (const [at, audience] of audiences.entries()) {
    if (audience === '') problems.required(`${path}.audiences[${at}]`)
    if (audiences.indexOf(audience) < at) problems.duplicate(`${path}.audiences[${at}]`, audience)
  }
  if (audienceMatchPolicy === 'MatchAny') return
  const place = `${path}.audienceMatchPolicy`
  if (audiences.length > 1) {
    const detail = 'audienceMatchPolicy must be MatchAny for multiple audiences'
    problems.invalid(place, audienceMatchPolicy, detail)
  } else if (audienceMatchPolicy !== '') {
    const detail = 'audienceMatchPolicy must be empty or MatchAny for single audience'
    problems.invalid(place, audienceMatchPolicy, detail)
  }
}

function checkUrl(text: string, path: string, problems: FieldProblems): void {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') problems.invalid(path, text, 'URL scheme must be https')
  if (!url) return
  if (url.username !== '' || url.password !== '') {
    problems.invalid(path, text, 'URL must not contain a username or password')
  }
  if (url.search !== '') problems.invalid(path, text, 'URL must not contain a query')
  if (url.hash !== '') problems.invalid(path, text, 'URL must not contain a fragment')
}

function checkClaimRules(
  { claimValidationRules: rules = [] }: JwtIssuerConfig,
  path: string,
  problems: FieldProblems,
): void {
  const seen = new Set<string>()
  for (const [at, rule] of rules.entries()) {
    const { claim = '', requiredValue = '', expression = '', message = '' } = rule
    const place = `${path}[${at}]`
    if (claim !== '' && expression !== '') problems.invalid(place, claim, exclusive)
    else if (claim !== '') {
      if (message !== '') {
        problems.invalid(`${place}.message`, message, 'may not be specified when claim is set')
      }
      if (seen.has(`claim ${claim}`)) problems.duplicate(`${place}.claim`, claim)
      seen.add(`claim ${claim}`)
    } else if (expression === '') problems.required(place, 'claim or expression is required')
    else {
      if (requiredValue !== '') {
        const detail = 'may not be specified when expression is set'
        problems.invalid(`${place}.requiredValue`, requiredValue, detail)
      }
      if (seen.has(expression)) problems.duplicate(`${place}.expression`, expression)
      else checkExpression(expression, { path: `${place}.expression`, isCondition: true }, problems)
      seen.add(expression)
    }
  }
}

function checkMappings(config: JwtIssuerConfig, path: string, problems: FieldProblems): void {
  const { username = {}, groups = {}, uid = {}, extra = [] } = config.claimMappings ?? {}
  if (!username.claim && !username.expression) {
    problems.required(`${path}.username`, 'claim or expression is required')
  }
  checkPrefixed(username, `${path}.username`, problems)
  checkPrefixed(groups, `${path}.groups`, problems)
  if (uid.claim && uid.expression) problems.invalid(`${path}.uid`, '', exclusive)
  else if (uid.expression) {
    checkExpression(uid.expression, { path: `${path}.uid.expression` }, problems)
  }
  checkExtra(extra, `${path}.extra`, problems)
  const readsVerified = [
    username.expression,
    ...extra.map(({ valueExpression }) => valueExpression),
    ...(config.claimValidationRules ?? []).map(({ expression }) => expression),
  ].some((text = '') => readsClaim(text, 'email_verified'))
  if (!username.expression || !readsClaim(username.expression, 'email') || readsVerified) return
  problems.invalid(
    `${path}.username.expression`,
    username.expression,
    'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
  )
}

function checkPrefixed(mapping: Mapping, path: string, problems: FieldProblems): void {
  const { claim, prefix, expression } = mapping
  if (claim && expression) problems.invalid(path, '', exclusive)
  else if (expression) {
    if (prefix !== undefined) {
      problems.invalid(`${path}.prefix`, prefix, 'may not be specified when expression is set')
    }
    checkExpression(expression, { path: `${path}.expression` }, problems)
  } else if (claim && prefix === undefined) {
    problems.required(
      `${path}.prefix`,
      'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    )
  }
}

function checkExtra(
  extra: NonNullable<Mappings['extra']>,
  path: string,
  problems: FieldProblems,
): void {
  const seen = new Set<string>()
  for (const [at, { key = '', valueExpression = '' }] of extra.entries()) {
    const place = `${path}[${at}]`
    checkKey(key, `${place}.key`, problems)
    if (seen.has(key)) {
      problems.duplicate(`${place}.key`, key)
      continue
    }
    seen.add(key)
    if (valueExpression === '') problems.required(`${place}.valueExpression`)
    else checkExpression(valueExpression, { path: `${place}.valueExpression` }, problems)
  }
}

function checkKey(key: string, path: string, problems: FieldProblems): void {
  if (key === '') problems.required(path)
  else if (!/^[^/]+\/.+$/.test(key)) {
    problems.invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")')
  }
  if (key !== key.toLowerCase()) problems.invalid(path, key, 'must be lowercase')
  if (!/(^|\.)(k8s|kubernetes)\.io\//.test(key)) return
  const detail = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
  problems.invalid(path, key, detail)
}

function checkUserRules(
  { userValidationRules: rules = [] }: JwtIssuerConfig,
  path: string,
  problems: FieldProblems,
): void {
  const seen = new Set<string>()
  for (const [at, { expression = '' }] of rules.entries()) {
    const place = `${path}[${at}].expression`
    if (expression === '') problems.required(place)
    else if (seen.has(expression)) problems.duplicate(place, expression)
    else checkExpression(expression, { path: place, subject: 'user', isCondition: true }, problems)
    seen.add(expression)
  }
}

function checkExpression(
  text: string,
  place: { path: string; subject?: ExpressionSubject; isCondition?: boolean },
  problems: FieldProblems,
): void {
  const { path, subject = 'claims', isCondition = false } = place
  const reason = expressionProblem(text, subject, isCondition)
  if (reason !== undefined) problems.invalid(path, text, reason)
}
