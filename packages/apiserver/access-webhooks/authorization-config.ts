import { parseDurationMs } from '@skerry/api'
import { configError, parseConfig, type ConfigOf } from '../config-file/config-shape.ts'
import { FieldProblems } from '../config-file/field-problems.ts'
import { conditionProblem } from './access-conditions.ts'
import { apiServerBounds } from '../limits-table.ts'

const kind = 'AuthorizationConfiguration'
const webhookShape = {
  fields: {
    authorizedTTL: 'string',
    cacheAuthorizedRequests: 'boolean',
    unauthorizedTTL: 'string',
    cacheUnauthorizedRequests: 'boolean',
    timeout: 'string',
    subjectAccessReviewVersion: 'string',
    matchConditionSubjectAccessReviewVersion: 'string',
    failurePolicy: 'string',
    connectionInfo: { fields: { type: 'string', kubeConfigFile: 'string' } },
    matchConditions: { list: { fields: { expression: 'string' } } },
  },
} as const
const authorizerShape = {
  fields: { type: 'string', name: 'string', webhook: webhookShape },
} as const

type AuthorizerFields = ConfigOf<typeof authorizerShape>
type WebhookFields = ConfigOf<typeof webhookShape>

/** The authorizers inside the server itself. */
export const builtinAuthorizerTypes = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'] as const
export type BuiltinAuthorizerType = (typeof builtinAuthorizerTypes)[number]

export type AuthorizerConfig =
  | { readonly type: BuiltinAuthorizerType; readonly name: string }
  | ({ readonly type: 'Webhook'; readonly name: string } & AccessWebhookConfig)

export interface AccessWebhookConfig {
  readonly kubeconfigPath: string
  readonly timeoutMs: number
  /** With 0 nothing is cached. */
  readonly allowedMs: number
  readonly othersMs: number
  readonly version: 'v1' | 'v1beta1'
  readonly onFailure: 'deny' | 'no-opinion'
  readonly conditions: readonly string[]
}

const { conditionsMax, timeoutMsMax } = apiServerBounds.authorizationConfig

/** Reads upstream's apiserver.config.k8s.io AuthorizationConfiguration. Throws ExpectedError. */
export function readAuthorizationConfig(text: string): AuthorizerConfig[] {
  const { authorizers = [] } = parseConfig(text, {
    kind,
    apiVersions: [
      'apiserver.config.k8s.io/v1',
      'apiserver.config.k8s.io/v1beta1',
      'apiserver.config.k8s.io/v1alpha1',
    ],
    fields: { authorizers: { list: authorizerShape } },
  })
  const problems = new FieldProblems()
  if (authorizers.length === 0) {
    problems.required('authorizers', 'at least one authorization mode must be defined')
  }
  const configs = authorizers.flatMap((each, at) => {
    const path = `authorizers[${at}]`
    const config = authorizerOf(each, path, problems)
    if (config) checkUnique(config, { path, earlier: authorizers.slice(0, at) }, problems)
    return config ?? []
  })
  const summary = problems.summary()
  if (summary !== undefined) throw configError(kind, summary)
  return configs
}

function checkUnique(
  { type, name }: AuthorizerConfig,
  { path, earlier }: { path: string; earlier: readonly AuthorizerFields[] },
  problems: FieldProblems,
): void {
  if (type !== 'Webhook' && earlier.some((other) => other.type === type)) {
    problems.duplicate(`${path}.type`, type)
  }
  if (earlier.some((other) => other.name === name)) problems.duplicate(`${path}.name`, name)
}

function authorizerOf(
  { type = '', name = '', webhook }: AuthorizerFields,
  path: string,
  problems: FieldProblems,
): AuthorizerConfig | undefined {
  if (type === '') {
    problems.required(`${path}.type`)
    return undefined
  }
  if (name === '') problems.required(`${path}.name`)
  else if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)) {
    const detail =
      'authorizer name is invalid: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters'
    problems.invalid(`${path}.name`, name, detail)
  }
  const builtin = builtinAuthorizerTypes.find((each) => each === type)
  if (builtin) {
    if (webhook) {
      problems.invalid(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook')
    }
    return { type: builtin, name }
  }
  if (type !== 'Webhook') {
    const supported = [...builtinAuthorizerTypes, 'Webhook'].toSorted()
    problems.unsupported(`${path}.type`, type, supported)
    return undefined
  }
  if (webhook) return { type, name, ...webhookOf(webhook, `${path}.webhook`, problems) }
  problems.required(`${path}.webhook`, 'required when type=Webhook')
  return undefined
}

function webhookOf(
  given: WebhookFields,
  path: string,
  problems: FieldProblems,
): AccessWebhookConfig {
  const duration = (key: 'timeout' | 'authorizedTTL' | 'unauthorizedTTL', ms: number): number => {
    const text = given[key]
    const parsed = text === undefined ? ms : parseDurationMs(text)
    if (parsed === undefined) problems.invalid(`${path}.${key}`, text ?? '', 'is not a duration')
    else if (parsed < 0) problems.invalid(`${path}.${key}`, text ?? '', 'must be > 0s')
    return parsed ?? ms
  }
  const { timeout = '' } = given
  const timeoutMs = duration('timeout', 0)
  if (timeout === '') problems.required(`${path}.timeout`)
  else if (timeoutMs > timeoutMsMax) {
    problems.invalid(`${path}.timeout`, timeout, 'must be > 0s and <= 30s')
  }
  const allowedMs = duration('authorizedTTL', 300_000)
  const othersMs = duration('unauthorizedTTL', 30_000)
  return {
    kubeconfigPath: connectionOf(given, `${path}.connectionInfo`, problems),
    timeoutMs,
    allowedMs: given.cacheAuthorizedRequests === false ? 0 : allowedMs,
    othersMs: given.cacheUnauthorizedRequests === false ? 0 : othersMs,
    ...policyOf(given, path, problems),
    conditions: conditionsOf(given, path, problems),
  }
}

function policyOf(given: WebhookFields, path: string, problems: FieldProblems) {
  const { subjectAccessReviewVersion: version = '', failurePolicy = '' } = given
  const place = `${path}.subjectAccessReviewVersion`
  if (version === '') problems.required(place)
  else if (version !== 'v1' && version !== 'v1beta1') {
    problems.unsupported(place, version, ['v1', 'v1beta1'])
  }
  if (failurePolicy === '') problems.required(`${path}.failurePolicy`)
  else if (failurePolicy !== 'NoOpinion' && failurePolicy !== 'Deny') {
    problems.unsupported(`${path}.failurePolicy`, failurePolicy, ['NoOpinion', 'Deny'])
  }
  return {
    version: version === 'v1beta1' ? 'v1beta1' : 'v1',
    onFailure: failurePolicy === 'NoOpinion' ? 'no-opinion' : 'deny',
  } as const
}

function connectionOf(
  { connectionInfo: { type = '', kubeConfigFile = '' } = {} }: WebhookFields,
  path: string,
  problems: FieldProblems,
): string {
  if (type === '') problems.required(`${path}.type`)
  else if (type !== 'KubeConfigFile') problems.unsupported(`${path}.type`, type, ['KubeConfigFile'])
  else if (kubeConfigFile === '') problems.required(`${path}.kubeConfigFile`)
  else if (!kubeConfigFile.startsWith('/')) {
    problems.invalid(`${path}.kubeConfigFile`, kubeConfigFile, 'must be an absolute path')
  }
  return kubeConfigFile
}

function conditionsOf(given: WebhookFields, path: string, problems: FieldProblems): string[] {
  const { matchConditions = [], matchConditionSubjectAccessReviewVersion: version = '' } = given
  const place = `${path}.matchConditionSubjectAccessReviewVersion`
  if (version !== '' && version !== 'v1') problems.unsupported(place, version, ['v1'])
  else if (version === '' && matchConditions.length > 0) {
    problems.required(place, 'required if match conditions are specified')
  }
  if (matchConditions.length > conditionsMax) {
    const count = String(matchConditions.length)
    problems.invalid(`${path}.matchConditions`, count, `must have at most ${conditionsMax} items`)
  }
  const seen: string[] = []
  for (const [at, { expression = '' }] of matchConditions.entries()) {
    const where = `${path}.matchConditions[${at}].expression`
    if (expression.trim() === '') problems.required(where)
    else if (seen.includes(expression)) problems.duplicate(where, expression)
    else {
      const reason = conditionProblem(expression)
      if (reason !== undefined) problems.invalid(where, expression, reason)
    }
    seen.push(expression)
  }
  return seen
}
