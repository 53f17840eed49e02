import { configError, parseConfig, type ConfigOf } from '../config-file/config-shape.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import type { UserInfo } from '../contract/access.ts'

export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse'
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic'

const kind = 'Policy'
const levels = new Set<string>(['None', 'Metadata', 'Request', 'RequestResponse'])
const stages = new Set<string>(['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'])
const strings = { list: 'string' } as const
const rule = {
  fields: {
    level: 'string',
    users: strings,
    userGroups: strings,
    verbs: strings,
    resources: {
      list: { fields: { group: 'string', resources: strings, resourceNames: strings } },
    },
    namespaces: strings,
    nonResourceURLs: strings,
    omitStages: strings,
    omitManagedFields: 'boolean',
  },
} as const

type Rule = ConfigOf<typeof rule>

/** Defines what is recorded of one request. */
export interface AuditScope {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<string>
  readonly omitManagedFields: boolean
}

export interface AuditPolicy {
  scopeOf(info: RequestInfo, user: UserInfo | undefined): AuditScope
}

/** Reads upstream's audit.k8s.io/v1 Policy. Throws ExpectedError. */
export function readAuditPolicy(text: string): AuditPolicy {
  const policy = parseConfig(text, {
    kind,
    apiVersions: ['audit.k8s.io/v1'],
    fields: {
      metadata: { map: 'string' },
      rules: { list: rule },
      omitStages: strings,
      omitManagedFields: 'boolean',
    },
  })
  const rules = policy.rules ?? []
  if (rules.length === 0) throw configError(kind, 'loaded illegal policy with 0 rules')
  rules.forEach(checkRule)
  checkStages(policy.omitStages, 'omitStages')
  const common = policy.omitStages ?? []
  const scopes = rules.map((each): AuditScope => ({
    // checkRule has verified it.
    level: each.level as AuditLevel,
    omitStages: new Set([...common, ...(each.omitStages ?? [])]),
    omitManagedFields: each.omitManagedFields ?? policy.omitManagedFields ?? false,
  }))
  return {
    scopeOf(info, user) {
      const at = rules.findIndex((each) => ruleMatches(each, info, user))
      return scopes[at] ?? nothing
    },
  }
}

const nothing: AuditScope = Object.freeze({
  level: 'None',
  omitStages: new Set<string>(),
  omitManagedFields: false,
})

function checkRule(each: Rule, at: number): void {
  const path = `rules[${at}]`
  if (!levels.has(each.level ?? '')) {
    throw configError(
      kind,
      `${path}.level: Unsupported value: ${JSON.stringify(each.level ?? '')}: supported values: ${[...levels].map((level) => JSON.stringify(level)).join(', ')}`,
    )
  }
  if (each.nonResourceURLs?.length && (each.resources?.length || each.namespaces?.length)) {
    throw configError(
      kind,
      `${path}.nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs`,
    )
  }
  for (const url of each.nonResourceURLs ?? []) {
    if (url === '*' || (url.startsWith('/') && !url.slice(0, -1).includes('*'))) continue
    throw configError(
      kind,
      `${path}.nonResourceURLs: ${JSON.stringify(url)}: non-resource URL rules must begin with a '/' character, and '*' may only be the last one`,
    )
  }
  checkStages(each.omitStages, `${path}.omitStages`)
}

function checkStages(given: readonly string[] | undefined, path: string): void {
  for (const stage of given ?? []) {
    if (!stages.has(stage)) throw configError(kind, `${path}: no stage ${JSON.stringify(stage)}`)
  }
}

function ruleMatches(each: Rule, info: RequestInfo, user: UserInfo | undefined): boolean {
  const { users = [], userGroups = [], verbs = [] } = each
  if (users.length > 0 && !(user && users.includes(user.name))) return false
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) {
    return false
  }
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false
  if (each.namespaces?.length || each.resources?.length) return matchesResource(each, info)
  if (each.nonResourceURLs?.length) return matchesPath(each.nonResourceURLs, info)
  return true
}

function matchesPath(urls: readonly string[], info: RequestInfo): boolean {
  if (info.isResourceRequest) return false
  const { path } = info
  return urls.some(
    (url) =>
      url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))),
  )
}

function matchesResource({ namespaces = [], resources = [] }: Rule, info: RequestInfo): boolean {
  if (!info.isResourceRequest) return false
  if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false
  if (resources.length === 0) return true
  const { resource, group } = info.resource
  const { subresource, name } = info
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  const matchesOne = (text: string): boolean =>
    text === '*' ||
    text === whole ||
    (subresource !== '' && text === `*/${subresource}`) ||
    text === `${resource}/*`
  return resources.some((each) => {
    if (each.group !== '*' && (each.group ?? '') !== group) return false
    if (!each.resources?.length) return true
    const { resourceNames = [] } = each
    if (resourceNames.length > 0 && !resourceNames.includes(name)) return false
    return each.resources.some(matchesOne)
  })
}
