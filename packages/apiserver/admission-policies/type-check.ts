import {
  compileVariables,
  typedSchema,
  typeIssues,
  type Declarations,
  type TypedSchema,
} from '@skerry/kinds'
import type { Kind, NamedRuleWithOperations, ValidatingAdmissionPolicy } from '@skerry/api'
import { apiServerBounds } from '../limits-table.ts'

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

const { kindsMax } = apiServerBounds.typeCheck

/**
 * Lists expressions of a policy that do not fit the schemas of the resources it matches. They fail
 * only when they are evaluated, so this is advice, in the policy's status.
 */
export function checkPolicyTypes(
  { spec = {} }: ValidatingAdmissionPolicy,
  kinds: readonly Kind[],
): ExpressionWarning[] {
  const matched = matchedKinds(spec.matchConstraints?.resourceRules ?? [], kinds)
  const { paramKind } = spec
  const params = kinds.find(
    (kind) => kind.kind === paramKind?.kind && versionOf(kind) === paramKind.apiVersion,
  )
  const paramsSchema = params && schemaOf(params)
  const contexts = matched.map((kind) => {
    const typed = { object: schemaOf(kind), ...(paramsSchema ? { params: paramsSchema } : {}) }
    const plain = { hasParams: paramKind !== undefined, hasAuthorizer: true, typed }
    return { kind, declared: compileVariables(spec.variables ?? [], plain).declared }
  })
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, at) => {
    const path = `spec.validations[${at}]`
    return [
      ...warningsOf(expression, `${path}.expression`, contexts),
      ...(messageExpression
        ? warningsOf(messageExpression, `${path}.messageExpression`, contexts)
        : []),
    ]
  })
}

function warningsOf(
  expression: string,
  fieldRef: string,
  contexts: readonly { readonly kind: Kind; readonly declared: Declarations }[],
): ExpressionWarning[] {
  const lines = contexts.flatMap(({ kind, declared }) => {
    const issues = typeIssues(declared, expression)
    const of = kind.group === '' ? `/${kind.version}` : versionOf(kind)
    return issues === undefined ? [] : [`${of}, Kind=${kind.kind}: ${issues}\n`]
  })
  return lines.length === 0 ? [] : [{ fieldRef, warning: lines.join('\n') }]
}

const schemas = new WeakMap<Kind, TypedSchema>()

function schemaOf(kind: Kind): TypedSchema {
  const known = schemas.get(kind) ?? typedSchema(kind.schemas, kind.schemaName)
  schemas.set(kind, known)
  return known
}

function versionOf({ group, version }: Kind): string {
  return group === '' ? version : `${group}/${version}`
}

/** Rules with wildcards name no kind that could be checked. */
function matchedKinds(rules: readonly NamedRuleWithOperations[], kinds: readonly Kind[]): Kind[] {
  const found = new Set<Kind>()
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if (apiGroups.includes('*') || apiVersions.includes('*')) continue
    for (const kind of kinds) {
      const isNamed =
        apiGroups.includes(kind.group) &&
        apiVersions.includes(kind.version) &&
        resources.includes(kind.resource)
      if (isNamed && found.size < kindsMax) found.add(kind)
    }
  }
  return [...found].toSorted((a, b) => {
    const [left, right] = [a, b].map(({ group, version, kind }) => `${group} ${version} ${kind}`)
    return (left ?? '') < (right ?? '') ? -1 : 1
  })
}
