import {
  celTypes,
  createEnvironment,
  type CelEnvironment,
  type CelProgram,
  type CelValue,
} from '@skerry/cel'
import type { UserInfo } from '../../access.ts'
import { configError } from '../../config-file/config-shape.ts'
import { TokenError } from '../token-authenticator.ts'
import type { JwtIssuerConfig } from './authentication-config.ts'

export type Claims = Readonly<Record<string, unknown>>
export type ClaimMapper = (claims: Claims) => UserInfo

type Mappings = NonNullable<JwtIssuerConfig['claimMappings']>
type Mapping = NonNullable<Mappings['username']>

/** Compiles what the configuration says of claims. The mapper throws TokenError with upstream's words. */
export function createClaimMapper(config: JwtIssuerConfig): ClaimMapper {
  const { claimMappings = {}, claimValidationRules = [], userValidationRules = [] } = config
  const usesEmail = claimMappings.username?.claim === 'email'
  const username = valueOf(claimMappings.username)
  const groups = valueOf(claimMappings.groups)
  const uid = valueOf(claimMappings.uid)
  const extra = (claimMappings.extra ?? []).map(({ key = '', valueExpression = '' }) => ({
    key,
    value: compile(valueExpression, 'claims'),
  }))
  const rules = claimValidationRules.map(claimRule)
  const userRules = userValidationRules.map(({ expression = '', message }) => ({
    holds: compile(expression, 'user'),
    refusal: message || `validation expression '${expression}' failed`,
  }))
  return (claims) => {
    if (usesEmail && claims.email_verified !== undefined && claims.email_verified !== true) {
      throw new TokenError('oidc: email not verified')
    }
    for (const rule of rules) rule(claims)
    const user = {
      name: nameOf(username?.(claims), claimMappings.username),
      groups: textsOf(groups?.(claims)).map(
        (each) => `${claimMappings.groups?.prefix ?? ''}${each}`,
      ),
      extra: Object.fromEntries(
        extra.flatMap(({ key, value }) => {
          const texts = textsOf(value(claims)).filter((text) => text !== '')
          return texts.length === 0 ? [] : [[key, texts]]
        }),
      ),
      ...withUid(uid?.(claims)),
    }
    for (const { holds, refusal } of userRules) {
      const seen = {
        username: user.name,
        uid: user.uid ?? '',
        groups: user.groups,
        extra: user.extra,
      }
      if (holds(seen) !== true) {
        throw new TokenError(`oidc: error evaluating user info validation rule: ${refusal}`)
      }
    }
    return user
  }
}

function withUid(value: unknown): { uid?: string } {
  if (value === undefined || value === '') return {}
  if (typeof value === 'string') return { uid: value }
  throw new TokenError(
    'oidc: error evaluating uid claim expression: uid claim expression must return a string',
  )
}

function nameOf(value: unknown, mapping: Mapping | undefined): string {
  if (mapping?.claim && value === undefined) {
    throw new TokenError(
      `oidc: parse username claims ${JSON.stringify(mapping.claim)}: claim not present`,
    )
  }
  if (typeof value !== 'string') {
    throw new TokenError(
      'oidc: error evaluating username claim expression: username claim expression must return a string',
    )
  }
  if (value === '') throw new TokenError('oidc: empty username is not allowed')
  return `${mapping?.prefix ?? ''}${value}`
}

/** One text or a list of texts; absent is none. */
function textsOf(value: unknown): string[] {
  if (value === undefined || value === null || value === '') return []
  if (typeof value === 'string') return [value]
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
  throw new TokenError('oidc: expression must return a string or a list of strings')
}

function claimRule(
  rule: NonNullable<JwtIssuerConfig['claimValidationRules']>[number],
): (claims: Claims) => void {
  const { claim, requiredValue = '', expression = '', message } = rule
  if (claim) {
    return (claims) => {
      if (claims[claim] === undefined) {
        throw new TokenError(`oidc: required claim ${claim} not present in ID token`)
      }
      if (claims[claim] === requiredValue) return
      throw new TokenError(
        `oidc: required claim ${claim} value does not match. Got = ${JSON.stringify(claims[claim])}, want = ${requiredValue}`,
      )
    }
  }
  const holds = compile(expression, 'claims')
  return (claims) => {
    if (holds(claims) === true) return
    const refusal = message || `validation expression '${expression}' failed`
    throw new TokenError(`oidc: error evaluating claim validation expression: ${refusal}`)
  }
}

function valueOf(
  mapping: { claim?: string; expression?: string } | undefined,
): ((claims: Claims) => unknown) | undefined {
  const { claim, expression } = mapping ?? {}
  if (claim) return (claims) => claims[claim]
  return expression ? compile(expression, 'claims') : undefined
}

function compile(text: string, variable: 'claims' | 'user'): (value: Claims) => unknown {
  const environment = createEnvironment({ variables: { [variable]: celTypes.dyn } })
  const program = compiled(environment, text)
  return (value) => {
    try {
      return plain(program.evaluate({ [variable]: value }).value)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new TokenError(`oidc: error evaluating ${JSON.stringify(text)}: ${reason}`, {
        cause: error,
      })
    }
  }
}

function compiled(environment: CelEnvironment, text: string): CelProgram {
  try {
    return environment.compile(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw configError('AuthenticationConfiguration', `compilation failed: ${reason}`)
  }
}

/** Lists become arrays; texts and booleans are themselves. */
function plain(value: CelValue): unknown {
  const isList = typeof value === 'object' && value !== null && 'celKind' in value
  if (!isList || value.celKind !== 'list') return value
  return Array.from({ length: value.size }, (_each, at) => value.at(at))
}
