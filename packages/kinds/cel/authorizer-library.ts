import {
  CelOpaque,
  celTypes,
  CelRuntimeError,
  noSuchOverload,
  opaqueType,
  type CelLibrary,
  type CelType,
  type CelValue,
  type FunctionDeclaration,
} from '@skerry/cel'
import { checkDnsLabel, checkDnsSubdomain } from '@skerry/api'

const prefix = 'kubernetes.authorization'
export const authorizerType = opaqueType(`${prefix}.Authorizer`)
export const resourceCheckType = opaqueType(`${prefix}.ResourceCheck`)
const pathCheckType = opaqueType(`${prefix}.PathCheck`)
const groupCheckType = opaqueType(`${prefix}.GroupCheck`)
const decisionType = opaqueType(`${prefix}.Decision`)

/** The user in an access check. */
export interface CheckedUser {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** One question: whether this user may do this to the path, or else to the resource. */
export interface AccessCheck {
  readonly user: CheckedUser
  readonly verb: string
  readonly path: string
  readonly question?: ResourceQuestion
}

export interface CheckedDecision {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** The reason why no authorizer could decide. It is empty if one did. */
  readonly error: string
}

/** Answers the access checks of expressions. */
export interface CheckAnswers {
  readonly user: CheckedUser
  decide(check: AccessCheck): CheckedDecision
}

interface Asking {
  readonly session: CheckAnswers
  readonly user: CheckedUser
}

export interface ResourceQuestion {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export function authorizerValue(session: CheckAnswers): CelValue {
  return new CelOpaque(authorizerType, { session, user: session.user })
}

/** Returns the value of `authorizer.requestResource` in expressions. */
export function resourceCheckValue(session: CheckAnswers, question: ResourceQuestion): CelValue {
  return new CelOpaque(resourceCheckType, { session, user: session.user, question })
}

/** Upstream's cost of a check, whatever the authorizer is. */
const checkCost = 350_000

const { bool, string } = celTypes

/** Access checks, such as `authorizer.group('apps').resource('deployments').check('get')`. */
export const authorizerLibrary: CelLibrary = Object.freeze({
  name: 'kubernetes.authz',
  functions: Object.freeze([
    member('path', {
      id: 'authorizer_path',
      parameters: [authorizerType, string],
      result: pathCheckType,
      make([of, path]) {
        requireText(path, 'path')
        return { ...valueOf<Asking>(of), path }
      },
    }),
    member('group', {
      id: 'authorizer_group',
      parameters: [authorizerType, string],
      result: groupCheckType,
      make: ([of, group]) => ({ ...valueOf<Asking>(of), group }),
    }),
    member('serviceAccount', {
      id: 'authorizer_serviceaccount',
      parameters: [authorizerType, string, string],
      result: authorizerType,
      make: ([of, namespace, name]) => ({
        ...valueOf<Asking>(of),
        user: serviceAccount(textOf(namespace), textOf(name)),
      }),
    }),
    member('resource', {
      id: 'groupcheck_resource',
      parameters: [groupCheckType, string],
      result: resourceCheckType,
      make([of, resource]) {
        requireText(resource, 'resource')
        const { group, ...asking } = valueOf<Asking & { group: string }>(of)
        const question = { group, resource, subresource: '', namespace: '', name: '' }
        return { ...asking, question }
      },
    }),
    narrowing('subresource', 'resourcecheck_subresource'),
    narrowing('namespace', 'resourcecheck_namespace'),
    narrowing('name', 'resourcecheck_name'),
    narrowing('fieldSelector', 'authorizer_fieldselector'),
    narrowing('labelSelector', 'authorizer_labelselector'),
    member(
      'check',
      {
        id: 'pathcheck_check',
        parameters: [pathCheckType, string],
        result: decisionType,
        make: checkPath,
        cost: checkCost,
      },
      {
        id: 'resourcecheck_check',
        parameters: [resourceCheckType, string],
        result: decisionType,
        make: checkResource,
        cost: checkCost,
      },
    ),
    reading('allowed', bool, ({ verdict }) => verdict === 'allow'),
    reading('reason', string, ({ reason }) => reason),
    reading('errored', bool, ({ error }) => error !== ''),
    reading('error', string, ({ error }) => error),
  ]),
})

interface Member {
  readonly id: string
  /** The receiver comes first. */
  readonly parameters: readonly CelType[]
  readonly result: CelType
  readonly make: (args: readonly CelValue[]) => object
  /** Default: 1. */
  readonly cost?: number
}

function member(name: string, ...members: readonly Member[]): FunctionDeclaration {
  const overloads = members.map(({ id, parameters, result, make, cost = 1 }) => ({
    id,
    isMember: true,
    parameters,
    result,
    call: (args: readonly CelValue[]) => new CelOpaque(result, make(args)),
    cost: () => cost,
    estimate: () => ({ cost: { min: cost, max: cost } }),
  }))
  return { name, overloads }
}

/** Narrows a check by one field. */
function narrowing(field: keyof ResourceQuestion, id: string): FunctionDeclaration {
  return member(field, {
    id,
    parameters: [resourceCheckType, string],
    result: resourceCheckType,
    make([of, text]) {
      const { question, ...asking } = valueOf<Asking & { question: ResourceQuestion }>(of)
      return { ...asking, question: { ...question, [field]: text } }
    },
  })
}

function reading(
  name: string,
  result: CelType,
  read: (decision: CheckedDecision) => CelValue,
): FunctionDeclaration {
  return {
    name,
    overloads: [
      {
        id: `decision_${name}`,
        isMember: true,
        parameters: [decisionType],
        result,
        call: ([of]: readonly CelValue[]) => read(valueOf<CheckedDecision>(of)),
      },
    ],
  }
}

function checkPath([of, verb]: readonly CelValue[]): object {
  const { session, user, path } = valueOf<Asking & { path: string }>(of)
  return session.decide({ user, verb: textOf(verb), path })
}

function checkResource([of, verb]: readonly CelValue[]): object {
  const { session, user, question } = valueOf<Asking & { question: ResourceQuestion }>(of)
  return session.decide({ user, verb: textOf(verb), path: '', question })
}

function serviceAccount(namespace: string, name: string): CheckedUser {
  if (checkDnsSubdomain(name).length > 0) throw new CelRuntimeError('Invalid service account name')
  if (checkDnsLabel(namespace).length > 0) {
    throw new CelRuntimeError('Invalid service account namespace')
  }
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return { name: `system:serviceaccount:${namespace}:${name}`, groups, extra: {} }
}

function requireText(value: CelValue | undefined, what: string): void {
  if (textOf(value).trim() === '') throw new CelRuntimeError(`${what} must not be empty`)
}

function textOf(value: CelValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The checker allows only this library's own values, each made for its declared type. */
function valueOf<T>(value: CelValue | undefined): T {
  if (!(value instanceof CelOpaque)) throw noSuchOverload()
  return value.value as T
}
