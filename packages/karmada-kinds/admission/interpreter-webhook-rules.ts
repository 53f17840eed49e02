import {
  checkDns1035Label,
  checkDnsSubdomain,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type AnyObject,
  type StatusCause,
} from '@skerry/api'
import { checkWebhookClient } from '@skerry/kinds'
import type { KindRules } from '../rules/kind-rules.ts'
import { karmadaKindsBounds } from '../limits-table.ts'

interface InterpreterWebhook {
  name: string
  clientConfig: { url?: string; service?: { namespace: string; name: string; port?: number } }
  rules?: InterpreterRule[]
  timeoutSeconds?: number
  interpreterContextVersions: string[]
}

interface InterpreterRule {
  operations: string[]
  apiGroups: string[]
  apiVersions: string[]
  kinds: string[]
}

/** The operations that a webhook may serve, in upstream's order. */
const operations = Object.freeze([
  '*',
  'AggregateStatus',
  'InterpretComponent',
  'InterpretDependency',
  'InterpretHealth',
  'InterpretReplica',
  'InterpretStatus',
  'Retain',
  'ReviseReplica',
])

const { timeoutSecondsMax } = karmadaKindsBounds.interpreterWebhookRules
const contextVersion = 'v1alpha1'
const servicePortDefault = 443

/** The rules of ResourceInterpreterWebhookConfiguration. */
export const interpreterWebhookRules: KindRules = Object.freeze({
  validate(object: AnyObject) {
    // Its schema has found it in order.
    const webhooks = object['webhooks'] as InterpreterWebhook[]
    const names = new Set<string>()
    return webhooks.flatMap((webhook, at) => {
      const field = `webhooks[${at}]`
      const causes = webhookCauses(webhook, field)
      if (names.has(webhook.name)) causes.push(fieldDuplicate(`${field}.name`, webhook.name))
      names.add(webhook.name)
      return causes
    })
  },
})

function webhookCauses(webhook: InterpreterWebhook, field: string): StatusCause[] {
  const { name, clientConfig, rules = [], timeoutSeconds } = webhook
  const causes = [
    ...domainCauses(name, `${field}.name`),
    ...rules.flatMap((rule, at) => ruleCauses(rule, `${field}.rules[${at}]`)),
  ]
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > timeoutSecondsMax)) {
    const why = `the timeout value must be between 1 and ${timeoutSecondsMax} seconds`
    causes.push(fieldInvalid(`${field}.timeoutSeconds`, timeoutSeconds, why))
  }
  const service = clientConfig.service && { port: servicePortDefault, ...clientConfig.service }
  checkWebhookClient(
    { ...clientConfig, ...(service ? { service } : {}) },
    `${field}.clientConfig`,
    causes,
  )
  const versions = versionCauses(
    webhook.interpreterContextVersions,
    `${field}.interpreterContextVersions`,
  )
  return [...causes, ...versions]
}

function domainCauses(name: string, field: string): StatusCause[] {
  if (name === '') return [fieldRequired(field)]
  const faults = checkDnsSubdomain(name)
  if (faults.length > 0) return faults.map((why) => fieldInvalid(field, name, why))
  if (name.includes('.')) return []
  const why = 'should be a domain with at least two segments separated by dots'
  return [fieldInvalid(field, name, why)]
}

function ruleCauses(rule: InterpreterRule, field: string): StatusCause[] {
  return [
    ...listCauses(rule.operations, `${field}.operations`, 'operations'),
    ...rule.operations.flatMap((operation, at) =>
      operations.includes(operation)
        ? []
        : [fieldNotSupported(`${field}.operations[${at}]`, operation, operations)],
    ),
    ...listCauses(rule.apiGroups, `${field}.apiGroups`, 'API groups'),
    ...listCauses(rule.apiVersions, `${field}.apiVersions`, 'API versions'),
    ...emptyCauses(rule.apiVersions, `${field}.apiVersions`),
    ...listCauses(rule.kinds, `${field}.kinds`, 'kinds'),
    ...emptyCauses(rule.kinds, `${field}.kinds`),
  ]
}

function listCauses(list: readonly string[], field: string, what: string): StatusCause[] {
  if (list.length === 0) return [fieldRequired(field)]
  if (list.length === 1 || !list.includes('*')) return []
  return [fieldInvalid(field, list, `if '*' is present, must not specify other ${what}`)]
}

function emptyCauses(list: readonly string[], field: string): StatusCause[] {
  return list.flatMap((text, at) => (text === '' ? [fieldRequired(`${field}[${at}]`)] : []))
}

function versionCauses(versions: readonly string[], field: string): StatusCause[] {
  if (versions.length === 0) {
    return [fieldRequired(field, `must specify one of ${contextVersion}`)]
  }
  const causes = versions.flatMap((version, at) =>
    versions.indexOf(version) < at
      ? [fieldInvalid(`${field}[${at}]`, version, 'duplicate version')]
      : checkDns1035Label(version).map((why) => fieldInvalid(`${field}[${at}]`, version, why)),
  )
  if (!versions.includes(contextVersion)) {
    causes.push(fieldInvalid(field, versions, `must include at least one of ${contextVersion}`))
  }
  return causes
}
