import type { Declarations } from '../../admission-cel/admission-environment.ts'
import {
  checkDns1035Label,
  checkDnsSubdomain,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  type MatchCondition,
  type MutatingWebhook,
  type RuleWithOperations,
  type ValidatingWebhook,
} from '@skerry/api'
import { addInvalid, checkOneOf, checkQualifiedField, type Found } from '../checks.ts'
import { checkLabelSelector } from '../label-checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkExpression } from './expression-validation.ts'
import { checkWebhookClient } from '../webhook-client-checks.ts'

type Webhook = Loose<ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>>

const reviewVersions = ['v1', 'v1beta1']

export function checkWebhooks(webhooks: readonly Webhook[], found: Found): void {
  const names = new Set<string>()
  for (const [at, webhook] of webhooks.entries()) {
    const path = `webhooks[${at}]`
    checkWebhook(webhook, path, found)
    const versions = webhook.admissionReviewVersions ?? []
    checkReviewVersions(versions, `${path}.admissionReviewVersions`, found)
    const { name = '' } = webhook
    if (name && names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    names.add(name)
  }
}

function checkWebhook(webhook: Webhook, path: string, found: Found): void {
  checkFullName(webhook.name ?? '', `${path}.name`, found)
  for (const [at, rule] of (webhook.rules ?? []).entries()) {
    checkRule(rule, `${path}.rules[${at}]`, found)
  }
  checkOneOf(webhook.failurePolicy, ['Fail', 'Ignore'], `${path}.failurePolicy`, found)
  checkOneOf(webhook.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`, found)
  const effects = ['None', 'NoneOnDryRun']
  const { sideEffects } = webhook
  if (sideEffects) checkOneOf(sideEffects, effects, `${path}.sideEffects`, found)
  else found.push(fieldRequired(`${path}.sideEffects`, `must specify one of ${effects.join(', ')}`))
  const { timeoutSeconds } = webhook
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    const detail = 'the timeout value must be between 1 and 30 seconds'
    found.push(fieldInvalid(`${path}.timeoutSeconds`, timeoutSeconds, detail))
  }
  checkLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`, found)
  checkLabelSelector(webhook.objectSelector, `${path}.objectSelector`, found)
  const reinvocation = ['IfNeeded', 'Never']
  checkOneOf(webhook.reinvocationPolicy, reinvocation, `${path}.reinvocationPolicy`, found)
  checkWebhookClient(webhook.clientConfig ?? {}, `${path}.clientConfig`, found)
  checkMatchConditions(webhook.matchConditions ?? [], `${path}.matchConditions`, found)
}

function checkFullName(name: string, field: string, found: Found): void {
  const texts = checkDnsSubdomain(name)
  if (!name) found.push(fieldRequired(field))
  else if (texts.length > 0) found.push(fieldInvalid(field, name, texts.join(',')))
  else if (name.split('.').length < 3) {
    const detail = 'should be a domain with at least three segments separated by dots'
    found.push(fieldInvalid(field, name, detail))
  }
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

/** Checks a rule of a webhook or of an admission policy. */
export function checkRule(rule: Loose<RuleWithOperations>, path: string, found: Found): void {
  const named = rule.operations ?? []
  if (named.length === 0) found.push(fieldRequired(`${path}.operations`))
  checkWildcard(named, 'operations', `${path}.operations`, found)
  for (const [at, operation] of named.entries()) {
    checkOneOf(operation, operations, `${path}.operations[${at}]`, found)
  }
  const { apiGroups = [], apiVersions = [], resources = [] } = rule
  if (apiGroups.length === 0) found.push(fieldRequired(`${path}.apiGroups`))
  checkWildcard(apiGroups, 'API groups', `${path}.apiGroups`, found)
  if (apiVersions.length === 0) found.push(fieldRequired(`${path}.apiVersions`))
  checkWildcard(apiVersions, 'API versions', `${path}.apiVersions`, found)
  for (const [at, version] of apiVersions.entries()) {
    if (!version) found.push(fieldRequired(`${path}.apiVersions[${at}]`))
  }
  checkResources(resources, `${path}.resources`, found)
  checkOneOf(rule.scope, ['*', 'Cluster', 'Namespaced'], `${path}.scope`, found)
}

function checkWildcard(values: readonly string[], what: string, field: string, found: Found): void {
  if (values.length < 2 || !values.includes('*')) return
  found.push(fieldInvalid(field, values, `if '*' is present, must not specify other ${what}`))
}

function checkResources(resources: readonly string[], field: string, found: Found): void {
  if (resources.length === 0) found.push(fieldRequired(field))
  const wholeResources = new Set<string>()
  const everySubresource = new Set<string>()
  for (const [at, text] of resources.entries()) {
    const path = `${field}[${at}]`
    if (!text) found.push(fieldRequired(path))
    const slash = text.indexOf('/')
    if (slash < 0) continue
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    if (wholeResources.has(resource)) {
      const detail = `if '${resource}/*' is present, must not specify ${text}`
      found.push(fieldInvalid(path, text, detail))
    }
    if (everySubresource.has(subresource)) {
      const detail = `if '*/${subresource}' is present, must not specify ${text}`
      found.push(fieldInvalid(path, text, detail))
    }
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') everySubresource.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    const detail = "if '*/*' is present, must not specify other resources"
    found.push(fieldInvalid(field, resources, detail))
  }
  const hasOther = resources.some((text) => text !== '' && text !== '*' && !text.includes('/'))
  if (resources.includes('*') && hasOther) {
    const detail = "if '*' is present, must not specify other resources without subresources"
    found.push(fieldInvalid(field, resources, detail))
  }
}

/** `accepted` lists the versions of the review that this server can send. */
function checkReviewVersions(versions: readonly string[], field: string, found: Found): void {
  const list = reviewVersions.join(', ')
  if (versions.length === 0) {
    found.push(fieldRequired(field, `must specify one of ${list}`))
    return
  }
  for (const [at, version] of versions.entries()) {
    if (versions.indexOf(version) < at) {
      found.push(fieldInvalid(`${field}[${at}]`, version, 'duplicate version'))
    } else {
      addInvalid(found, `${field}[${at}]`, version, checkDns1035Label(version))
    }
  }
  if (versions.some((version) => reviewVersions.includes(version))) return
  found.push(fieldInvalid(field, versions, `must include at least one of ${list}`))
}

/** Checks the match conditions of webhooks, and of policies, whose conditions may use their parameters. */
export function checkMatchConditions(
  conditions: readonly Loose<MatchCondition>[],
  field: string,
  found: Found,
  declared: Declarations = { hasParams: false, hasAuthorizer: true },
): void {
  if (conditions.length > 64) found.push(fieldTooMany(field, conditions.length, 64))
  const names = new Set<string>()
  for (const [at, { name = '', expression = '' }] of conditions.entries()) {
    const path = `${field}[${at}]`
    const trimmed = expression.trim()
    if (trimmed === '') found.push(fieldRequired(`${path}.expression`))
    else {
      const wanted = { expression: trimmed, declared, result: 'condition' } as const
      checkExpression(wanted, `${path}.expression`, found)
    }
    if (name) checkQualifiedField(name, `${path}.name`, found)
    else found.push(fieldRequired(`${path}.name`))
    if (name && names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    names.add(name)
  }
}
