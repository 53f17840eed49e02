import type { UserInfo } from '../../contract/access.ts'
import { TokenError } from '../token-authenticator.ts'
import type { JwtIssuerConfig } from './authentication-config.ts'
import { compileClaimExpression, type ClaimExpression } from './claim-expressions.ts'

export type Claims = Readonly<Record<string, unknown>>
export type ClaimMapper = (claims: Claims) => UserInfo

type Mappings = NonNullable<JwtIssuerConfig['claimMappings']>
type Check<T> = (subject: T) => void

const evaluating = 'oidc: error evaluating'
const credentialIdKey = 'authentication.kubernetes.io/credential-id'

/** Maps claims to a user as configured. The mapper throws TokenError with upstream's words. */
export function createClaimMapper(config: JwtIssuerConfig): ClaimMapper {
  const { claimMappings = {}, claimValidationRules = [], userValidationRules = [] } = config
  const nameOf = usernameOf(claimMappings.username)
  const groupsOf = groupsFrom(claimMappings.groups)
  const uidOf = uidFrom(claimMappings.uid)
  const extraOf = extraFrom(claimMappings.extra)
  // Claims with required values are checked before conditions, regardless of their order in the
  // file.
  const rules = claimValidationRules
    .toSorted((a, b) => Number(Boolean(a.expression)) - Number(Boolean(b.expression)))
    .map(claimRule)
  const userRules = userValidationRules.map(({ expression = '', message = '' }) =>
    condition('user', { expression, message, where: `${evaluating} user info validation rule: ` }),
  )
  return (claims) => {
    const name = nameOf(claims)
    const groups = groupsOf(claims)
    const uid = uidOf(claims)
    const extra = extraOf(claims)
    for (const check of rules) check(claims)
    for (const check of userRules) check({ username: name, uid, groups, extra })
    return { name, groups, extra, ...(uid === '' ? {} : { uid }) }
  }
}

function usernameOf(mapping: Mappings['username'] = {}): (claims: Claims) => string {
  const { claim = '', prefix = '', expression } = mapping
  if (expression) {
    const where = `${evaluating} username claim expression: `
    const evaluate = compileClaimExpression(expression, 'claims', where)
    return (claims) => {
      const name = evaluate(claims)
      if (typeof name !== 'string') {
        throw new TokenError(`${where}username claim expression must return a string`)
      }
      if (name !== '') return name
      throw new TokenError('oidc: empty username via CEL expression is not allowed')
    }
  }
  return (claims) => {
    const name = textClaim(claims, claim, `parse username claims ${JSON.stringify(claim)}`)
    if (claim === 'email') requireVerified(claims)
    return `${prefix}${name}`
  }
}

function requireVerified({ email_verified: isVerified }: Claims): void {
  if (isVerified === undefined || isVerified === true) return
  if (isVerified === false) throw new TokenError('oidc: email not verified')
  throw new TokenError("oidc: parse 'email_verified' claim: it is not a boolean")
}

function textClaim(claims: Claims, claim: string, action: string): string {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  if (value === undefined) throw new TokenError(`oidc: ${action}: claim not present`)
  if (typeof value === 'string') return value
  throw new TokenError(`oidc: ${action}: json: cannot unmarshal ${jsonKind(value)} into a string`)
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function groupsFrom(mapping: Mappings['groups'] = {}): (claims: Claims) => string[] {
  const { claim, prefix = '', expression } = mapping
  if (claim) {
    return (claims) => {
      const value = claims[claim]
      if (value === undefined || value === null) return []
      const list: readonly unknown[] = [value].flat()
      if (list.every((each) => typeof each === 'string')) {
        return list.map((each) => `${prefix}${each}`)
      }
      throw new TokenError(
        `oidc: parse groups claim ${JSON.stringify(claim)}: json: cannot unmarshal ${jsonKind(value)} into a string or a list of strings`,
      )
    }
  }
  if (!expression) return () => []
  const where = `${evaluating} group claim expression: `
  return listOf(compileClaimExpression(expression, 'claims', where), where)
}

function uidFrom(mapping: Mappings['uid'] = {}): (claims: Claims) => string {
  const { claim, expression } = mapping
  if (claim) return (claims) => textClaim(claims, claim, `parse uid claim ${JSON.stringify(claim)}`)
  if (!expression) return () => ''
  const where = `${evaluating} uid claim expression: `
  const evaluate = compileClaimExpression(expression, 'claims', where)
  return (claims) => {
    const uid = evaluate(claims)
    if (typeof uid === 'string') return uid
    throw new TokenError(`${where}uid claim expression must return a string`)
  }
}

function extraFrom(mappings: Mappings['extra'] = []) {
  const parts = mappings.map(({ key = '', valueExpression = '' }) => {
    const where = `${evaluating} extra claim expression: ${valueExpression}: `
    return [
      key,
      listOf(compileClaimExpression(valueExpression, 'claims', 'oidc: '), where),
    ] as const
  })
  return (claims: Claims): Record<string, string[]> => {
    const extra: Record<string, string[]> = {}
    const { jti } = claims
    if (typeof jti === 'string' && jti !== '') extra[credentialIdKey] = [`JTI=${jti}`]
    for (const [key, valuesOf] of parts) {
      const values = valuesOf(claims)
      if (values.length > 0) extra[key] = values
    }
    return extra
  }
}

/** Reads one text or a list of texts, without null and empty texts. */
function listOf(evaluate: ClaimExpression, where: string): (claims: Claims) => string[] {
  return (claims) => {
    const value = evaluate(claims)
    const list: readonly unknown[] = value === null ? [] : [value].flat()
    if (list.every((each) => typeof each === 'string')) return list.filter((each) => each !== '')
    throw new TokenError(`${where}expression must return a string or a list of strings`)
  }
}

function claimRule(
  rule: NonNullable<JwtIssuerConfig['claimValidationRules']>[number],
): Check<Claims> {
  const { claim, requiredValue = '', expression = '', message = '' } = rule
  if (!claim) {
    const where = `${evaluating} claim validation expression: `
    return condition('claims', { expression, message, where })
  }
  return (claims) => {
    if (!Object.hasOwn(claims, claim) || claims[claim] === undefined) {
      throw new TokenError(`oidc: required claim ${claim} not present in ID token`)
    }
    const value = textClaim(claims, claim, `parse claim ${claim}`)
    if (value === requiredValue) return
    throw new TokenError(
      `oidc: required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`,
    )
  }
}

function condition(
  subject: 'claims' | 'user',
  { expression, message, where }: { expression: string; message: string; where: string },
): Check<Claims> {
  const holds = compileClaimExpression(expression, subject, where)
  return (value) => {
    if (holds(value) === true) return
    throw new TokenError(`${where}validation expression '${expression}' failed: ${message}`)
  }
}
