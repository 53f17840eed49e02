import { equalJson, StatusError, type AnyObject } from '@skerry/api'
import type { AdmissionRequest, ServedResource } from '../contract/admission.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'
import { ReinvocationNotes, replaceContent } from '../admission-matching/reinvocation-notes.ts'
import { matchRequest } from '../admission-matching/request-match.ts'
import { BudgetError, type ActivationInput } from '../admission-matching/activation.ts'
import { AuthorizerSession } from '../admission-matching/authorizer-session.ts'
import { collectParams, ConfigurationError, findParamKind } from './collect-params.ts'
import { matchConditions } from '../admission-matching/match-conditions.ts'
import { mutatingPluginName, type MutatingHook } from './mutating-hook.ts'
import { compileMutator, mutate, MutationError, type Mutator } from './mutator.ts'
import { namespaceObject } from './validate-by-policies.ts'

const mutators = new WeakMap<object, Mutator>()

interface PolicyFailure {
  readonly hook: MutatingHook
  readonly binding: string
  readonly message: string
  /** True if the problem was found while mutating, false if while choosing the policies that apply. */
  readonly isInvalid: boolean
}

interface Invocation {
  readonly hook: MutatingHook
  readonly binding: string
  readonly matched: ServedResource
  readonly params: AnyObject | undefined
}

interface Round {
  readonly request: AdmissionRequest
  readonly deps: PluginDeps
  readonly notes: ReinvocationNotes
  readonly session: AuthorizerSession
  readonly failures: PolicyFailure[]
  readonly namespace: AnyObject | undefined
  /** The object in the version of the request. */
  current: AnyObject | undefined
}

/** Throws StatusError if a policy cannot be carried out and its failures are not ignored. */
export async function mutateByPolicies(
  hooks: readonly MutatingHook[],
  request: AdmissionRequest,
  deps: PluginDeps,
): Promise<void> {
  const notes = ReinvocationNotes.of(request, mutatingPluginName)
  notes.start(request)
  const failures: PolicyFailure[] = []
  const invocations = hooks.flatMap((hook) => invocationsOf(hook, request, deps, failures))
  if (invocations.length > 0) {
    const session = new AuthorizerSession(deps.authorizer, request.user)
    const namespace = namespaceObject(request, deps)
    const current = request.object
    const round: Round = { request, deps, notes, session, failures, namespace, current }
    for (const invocation of invocations) await invoke(invocation, round)
    if (request.object && round.current && round.current !== request.object) {
      replaceContent(request.object, round.current)
    }
  }
  notes.finish(request)
  const counted = failures.filter(({ hook }) => hook.policy.spec?.failurePolicy !== 'Ignore')
  if (counted.length > 0) throw denial(counted, request)
}

/** Policies are chosen before anything changes, so a mutation does not bring in other policies. */
function invocationsOf(
  hook: MutatingHook,
  request: AdmissionRequest,
  { objects }: PluginDeps,
  failures: PolicyFailure[],
): Invocation[] {
  const configured = <T>(binding: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ConfigurationError || error instanceof StatusError)) throw error
      const what = binding === '' ? 'policy' : 'binding'
      const message = `failed to configure ${what}: ${error.message}`
      failures.push({ hook, binding, message, isInvalid: false })
      return undefined
    }
  }
  const matched = configured('', () => matchRequest(hook.criteria, request, objects))
  if (!matched) return []
  const param = configured('', () => ({
    kind: findParamKind(hook.policy.spec?.paramKind, request),
  }))
  if (!param) return []
  return hook.bindings.flatMap(({ name, criteria, paramRef }) => {
    const isMatch = configured(
      name,
      () => !criteria || matchRequest(criteria, request, objects) !== undefined,
    )
    if (!isMatch) return []
    const found = configured(name, () => collectParams(param.kind, paramRef, request, objects))
    return (found ?? []).map((params) => ({ hook, binding: name, matched, params }))
  })
}

async function invoke(invocation: Invocation, round: Round): Promise<void> {
  const { hook, binding, matched, params } = invocation
  const { request, notes, session, failures, namespace } = round
  const mutator = mutatorOf(hook)
  const fail = (message: string): void =>
    void failures.push({ hook, binding, message, isInvalid: true })
  const oldObject =
    request.oldObject && (await request.versions.convert(request.oldObject, matched.kind))
  const before = round.current && (await request.versions.convert(round.current, matched.kind))
  const inputFor = (object: AnyObject | undefined): ActivationInput => ({
    subject: { request, matched, object, oldObject },
    params,
    namespace,
    session,
    variables: mutator.variables,
  })
  const match = await session.settle(() =>
    matchConditions(mutator.conditions, inputFor(before), mutator.isFailureIgnored),
  )
  if (match.type === 'refused') fail(match.message)
  if (match.type !== 'match') return
  const key = JSON.stringify([
    hook.name,
    binding,
    params?.metadata.namespace,
    params?.metadata.name,
  ])
  if (request.reinvocation.isSecond && !notes.isDue(key)) return
  let object = before
  for (const mutation of mutator.mutations) {
    if (!object) break
    const from = object
    try {
      const made = await session.settle(() =>
        mutate(mutation, from, inputFor(from), kindFor(matched, request)),
      )
      object = conformed(made, matched, request)
    } catch (error) {
      if (!(error instanceof MutationError || error instanceof BudgetError)) throw error
      fail(error.message)
    }
  }
  if (object && !equalJson(object, before)) {
    round.current = await request.versions.convert(object, request.objectKind)
    notes.onChanged(request)
  }
  if (hook.policy.spec?.reinvocationPolicy === 'IfNeeded') notes.onAsked(key)
}

/** A mutation may produce something that is not an object of the kind. That is not the client's fault. */
function conformed(
  made: AnyObject,
  { kind }: ServedResource,
  { versions }: AdmissionRequest,
): AnyObject {
  try {
    return versions.conform(made, kind)
  } catch (error) {
    throw error instanceof StatusError && error.cause instanceof Error ? error.cause : error
  }
}

function mutatorOf({ policy }: MutatingHook): Mutator {
  const known = mutators.get(policy) ?? compileMutator(policy)
  mutators.set(policy, known)
  return known
}

/** Finds the kind whose schema defines how lists and maps are merged. */
function kindFor({ kind }: ServedResource, request: AdmissionRequest) {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  const found = request.versions.findKind(apiVersion, kind.kind)
  if (found) return found
  throw new StatusError(
    'ServiceUnavailable',
    `Resource kind ${apiVersion}, Kind=${kind.kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
  )
}

function denial(failures: readonly PolicyFailure[], request: AdmissionRequest): StatusError {
  const texts = failures.map(({ hook, binding, message }) =>
    binding === ''
      ? `policy ${JSON.stringify(hook.name)} denied request: ${message}`
      : `policy '${hook.name}' with binding '${binding}' denied request: ${message}`,
  )
  const { details } = refuse(
    request,
    '',
    texts.map((message) => ({ message })),
  )
  return new StatusError(failures[0]?.isInvalid ? 'Invalid' : 'Forbidden', texts[0] ?? '', {
    code: 403,
    ...(details ? { details } : {}),
  })
}
