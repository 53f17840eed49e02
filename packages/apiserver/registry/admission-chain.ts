import type { AnyObject, StatusCause } from '@skerry/api'
import type { AdmissionRequest, Operation, Reinvocation } from '../contract/admission.ts'
import { keepValidManagedFields } from './managed-fields.ts'
import type { RequestDeps, RequestScope } from './request-scope.ts'
import { objectKindOf, requestVersions } from './request-versions.ts'

export interface AdmissionInput {
  readonly operation: Operation
  readonly object: AnyObject | undefined
  readonly oldObject: AnyObject | undefined
  /** The name of the object if the request's path has none (create, generated names). */
  readonly name?: string
  readonly options?: AnyObject | undefined
}

/** Runs all mutating plugins in the table's order, and once more if one of them requires it. */
export async function admit(
  input: AdmissionInput,
  scope: RequestScope,
  deps: RequestDeps,
): Promise<void> {
  const first = newRound()
  const { object } = input
  const managedFields = object?.metadata.managedFields
  await runAdmit(requestOf(input, first, scope, deps), scope, deps)
  if (first.isWanted) {
    const second = { ...first, isSecond: true }
    await runAdmit(requestOf(input, second, scope, deps), scope, deps)
  }
  // Only plugins outside this process replace the list.
  if (object && object.metadata.managedFields !== managedFields) {
    keepValidManagedFields(object, managedFields, scope)
  }
}

function newRound(): Reinvocation {
  return { isSecond: false, isWanted: false, notes: new Map<string, unknown>() }
}

async function runAdmit(
  request: AdmissionRequest,
  { pace }: RequestScope,
  deps: RequestDeps,
): Promise<void> {
  for (const plugin of deps.admission) {
    if (!plugin.admit || !plugin.handles(request)) continue
    await plugin.admit(request)
    await pace?.pause()
  }
}

/** Returns the causes that the kind's own validation found, with those of plugins before and after them. */
export async function allCauses(
  own: readonly StatusCause[],
  input: AdmissionInput,
  scope: RequestScope,
  deps: RequestDeps,
): Promise<StatusCause[]> {
  const checking = deps.admission.filter(({ check }) => check !== undefined)
  if (checking.length === 0) return [...own]
  const request = requestOf(input, newRound(), scope, deps)
  const found: Record<'before' | 'after', StatusCause[]> = { before: [], after: [] }
  for (const { check, handles } of checking) {
    if (!check || !handles(request)) continue
    found[check.stands].push(...(await check.causesOf(request, own)))
    await scope.pace?.pause()
  }
  return [...found.before, ...own, ...found.after]
}

/** Runs all validating plugins in the table's order. */
export async function admitValid(
  input: AdmissionInput,
  scope: RequestScope,
  deps: RequestDeps,
): Promise<void> {
  const request = requestOf(input, newRound(), scope, deps)
  for (const plugin of deps.admission) {
    if (!plugin.validate || !plugin.handles(request)) continue
    await plugin.validate(request)
    await scope.pace?.pause()
  }
}

function requestOf(
  input: AdmissionInput,
  reinvocation: Reinvocation,
  scope: RequestScope,
  deps: RequestDeps,
): AdmissionRequest {
  const { kind } = scope.reader
  return {
    operation: input.operation,
    kind,
    resource: { group: kind.group, version: kind.version, resource: kind.resource },
    subresource: scope.subresource,
    namespace: scope.namespace,
    name: input.name ?? scope.name,
    pathName: scope.name,
    object: input.object,
    oldObject: input.oldObject,
    objectKind: objectKindOf(kind, scope.subresource),
    versions: requestVersions(scope, deps),
    user: scope.user,
    isInternal: scope.isInternal ?? false,
    isDryRun: scope.isDryRun,
    options: input.options ?? scope.options,
    warn: scope.warn,
    annotate: scope.annotate ?? (() => undefined),
    ...(scope.trace ? { trace: scope.trace } : {}),
    reinvocation,
    signal: scope.signal,
  }
}
