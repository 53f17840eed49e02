import type { AnyObject } from '@skerry/api'
import type { AdmissionRequest, Operation } from '../admission.ts'
import type { RegistryDeps, RequestScope } from './request-scope.ts'

export interface AdmissionInput {
  readonly operation: Operation
  readonly object: AnyObject | undefined
  readonly oldObject: AnyObject | undefined
  /** Of the object, where the request's path has none (create, generated names). */
  readonly name?: string
  readonly options?: AnyObject | undefined
}

/** All that change the object, in the table's order. */
export async function admit(
  input: AdmissionInput,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<void> {
  const request = requestOf(input, scope)
  for (const plugin of deps.admission) {
    if (plugin.admit && plugin.handles(request)) await plugin.admit(request)
  }
}

/** All that only look, in the table's order. */
export async function admitValid(
  input: AdmissionInput,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<void> {
  const request = requestOf(input, scope)
  for (const plugin of deps.admission) {
    if (plugin.validate && plugin.handles(request)) await plugin.validate(request)
  }
}

function requestOf(input: AdmissionInput, scope: RequestScope): AdmissionRequest {
  const { kind } = scope.reader
  return {
    operation: input.operation,
    kind,
    resource: { group: kind.group, version: kind.version, resource: kind.resource },
    subresource: scope.subresource,
    namespace: scope.namespace,
    name: input.name ?? scope.name,
    object: input.object,
    oldObject: input.oldObject,
    user: scope.user,
    isDryRun: scope.isDryRun,
    options: input.options ?? scope.options,
    warn: scope.warn,
  }
}
