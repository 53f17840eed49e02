import { codeOfReason, StatusError, type AnyObject, type StatusReason } from '@skerry/api'
import { ownTurn } from '@skerry/base'
import type { AdmissionRequest, ServedResource } from '../contract/admission.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'
import { matchRequest, namespaceOf } from '../admission-matching/request-match.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { AuthorizerSession } from '../admission-matching/authorizer-session.ts'
import { collectParams, ConfigurationError, findParamKind } from './collect-params.ts'
import type { PolicyBinding } from './policy-source.ts'
import type { ValidatingHook } from './validating-policies.ts'
import { compileValidator, judge, type Judgement, type Validator } from './validator.ts'
import { policyLimits } from '../limits-table.ts'

const validators = new WeakMap<object, Validator>()

/** Throws StatusError with the first denial if any policy denies the request. */
export async function validateByPolicies(
  hooks: readonly ValidatingHook[],
  request: AdmissionRequest,
  deps: PluginDeps,
): Promise<void> {
  const session = new AuthorizerSession(deps.authorizer, request.user)
  const denials: Denial[] = []
  for (const hook of hooks) {
    const review = { hook, request, deps, session, denials }
    // A policy's expressions may take their whole budget.
    await ownTurn(deps.clock)
    await reviewPolicy(review)
  }
  const [first] = denials
  if (first) throw denial(first, request)
}

interface Denial {
  readonly policy: string
  readonly binding: string
  readonly message: string
  readonly reason: StatusReason | undefined
}

interface Review {
  readonly hook: ValidatingHook
  readonly request: AdmissionRequest
  readonly deps: PluginDeps
  readonly session: AuthorizerSession
  readonly denials: Denial[]
}

type Binding = ValidatingHook['bindings'][number]

async function reviewPolicy(review: Review): Promise<void> {
  const { hook, request, deps } = review
  const matched = configured(review, undefined, () =>
    matchRequest(hook.criteria, request, deps.objects),
  )
  const params =
    matched &&
    configured(review, undefined, () => ({
      kind: findParamKind(hook.policy.spec?.paramKind, request),
    }))
  if (!params) return
  const annotations = new Map<string, Set<string>>()
  for (const bound of hook.bindings) {
    const isMatch = configured(
      review,
      bound,
      () => !bound.criteria || matchRequest(bound.criteria, request, deps.objects) !== undefined,
    )
    if (isMatch) {
      const found = configured(review, bound, () =>
        collectParams(params.kind, bound.paramRef, request, deps.objects),
      )
      await reviewBinding(bound, { matched, params: found ?? [] }, review, annotations)
    }
  }
  for (const [key, values] of annotations) {
    request.annotate(`${hook.name}/${key}`, [...values].join(', '))
  }
}

/** A policy that cannot be used as it stands denies, unless its failures are ignored. */
function configured<T>(
  { hook, denials }: Review,
  bound: Binding | undefined,
  work: () => T,
): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof StatusError)) throw error
    if (hook.policy.spec?.failurePolicy === 'Ignore') return undefined
    const what = bound ? 'binding' : 'policy'
    denials.push({
      policy: hook.name,
      binding: bound?.name ?? '',
      message: `failed to configure ${what}: ${error.message}`,
      reason: undefined,
    })
    return undefined
  }
}

async function reviewBinding(
  bound: Binding,
  { matched, params }: { matched: ServedResource; params: readonly (AnyObject | undefined)[] },
  review: Review,
  annotations: Map<string, Set<string>>,
): Promise<void> {
  const { hook, request, deps, session } = review
  if (params.length === 0) return
  const { object, oldObject, versions } = request
  const subject = {
    request,
    matched,
    object: object && (await versions.convert(object, matched.kind)),
    oldObject: oldObject && (await versions.convert(oldObject, matched.kind)),
  }
  const namespace = namespaceObject(request, deps)
  for (const param of params) {
    const input = { subject, params: param, namespace, session }
    const judgement = await session.settle(() => judge(validatorOf(hook), input))
    act(judgement, bound, review, annotations)
  }
}

function validatorOf({ policy }: ValidatingHook): Validator {
  const known = validators.get(policy) ?? compileValidator(policy)
  validators.set(policy, known)
  return known
}

/**
 * Returns the namespace of the request's object, or undefined for cluster-scoped objects and for
 * namespaces themselves.
 */
export function namespaceObject(
  request: AdmissionRequest,
  { objects }: Pick<PluginDeps, 'objects'>,
): AnyObject | undefined {
  const { group, kind } = request.objectKind
  const name = group === '' && kind === 'Namespace' ? '' : namespaceOf(request)
  if (name === '') return undefined
  const found = objects.get(wellKnown.namespaces, '', name)
  if (found) return found
  throw new StatusError('NotFound', `namespaces ${JSON.stringify(name)} not found`, {
    details: { name, kind: 'namespaces' },
  })
}

function act(
  { objections, annotations }: Judgement,
  { name, binding }: PolicyBinding<ValidatingHook['bindings'][number]['binding']>,
  { hook, request, denials }: Review,
  published: Map<string, Set<string>>,
): void {
  const actions = binding.spec?.validationActions ?? []
  for (const { index, message, reason } of objections) {
    for (const action of actions) {
      if (action === 'Deny') denials.push({ policy: hook.name, binding: name, message, reason })
      if (action === 'Warn') {
        request.warn(
          `Validation failed for ValidatingAdmissionPolicy '${hook.name}' with binding '${name}': ${message}`,
        )
      }
      if (action === 'Audit') {
        const failure = {
          message,
          policy: hook.name,
          binding: name,
          expressionIndex: index,
          validationActions: actions,
        }
        const key = 'validation.policy.admission.k8s.io/validation_failure'
        request.annotate(key, JSON.stringify([failure]))
      }
    }
  }
  for (const annotation of annotations) {
    if (annotation.type === 'error') {
      const { message } = annotation
      denials.push({ policy: hook.name, binding: name, message, reason: undefined })
      continue
    }
    const value = annotation.value.slice(0, policyLimits.auditValueBytesMax)
    const values = published.get(annotation.key) ?? new Set<string>()
    published.set(annotation.key, values.add(value))
  }
}

function denial(
  { policy, binding, message, reason = 'Invalid' }: Denial,
  request: AdmissionRequest,
): StatusError {
  const bound = binding === '' ? '' : ` with binding '${binding}'`
  const text = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${message}`
  const refusal = refuse(request, text, [{ message: text }])
  return new StatusError(reason, refusal.message, {
    code: codeOfReason[reason],
    ...(refusal.details ? { details: refusal.details } : {}),
  })
}
