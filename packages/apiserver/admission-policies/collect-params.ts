import {
  labelSelectorOf,
  type AnyObject,
  type Kind,
  type ParamKind,
  type ParamRef,
} from '@skerry/api'
import type { AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { namespaceOf } from '../admission-matching/request-match.ts'

/** Reports a policy or binding that cannot be used as it stands. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError'
}

/** Returns the kind of a policy's parameters, or undefined if it has none. Throws ConfigurationError. */
export function findParamKind(
  paramKind: ParamKind | undefined,
  { versions }: AdmissionRequest,
): Kind | undefined {
  if (!paramKind) return undefined
  const { apiVersion = '', kind = '' } = paramKind
  const found = versions.findKind(apiVersion, kind)
  if (found) return found
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  throw new ConfigurationError(
    `failed to find resource referenced by paramKind: '${version}, Kind=${kind}'`,
  )
}

/**
 * Returns the parameters to evaluate a policy with, once for each; undefined stands for one
 * evaluation without parameters. If the list is empty, the policy is not evaluated. Throws
 * ConfigurationError.
 */
export function collectParams(
  kind: Kind | undefined,
  paramRef: ParamRef | undefined,
  request: AdmissionRequest,
  objects: Objects,
): readonly (AnyObject | undefined)[] {
  if (!kind || !paramRef) return [undefined]
  const { group, version, resource, isNamespaced } = kind
  const namespace = isNamespaced ? namespaceFor(paramRef, request) : ''
  if (!isNamespaced && paramRef.namespace) {
    throw new ConfigurationError(
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    )
  }
  const params = select(paramRef, {
    get: (name) => objects.get({ group, resource }, namespace, name),
    list: () => objects.list({ group, resource }, isNamespaced ? namespace : undefined),
  })
  if (params.length === 0 && paramRef.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError(
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    )
  }
  const apiVersion = group === '' ? version : `${group}/${version}`
  return params.map((object) =>
    object.apiVersion === apiVersion ? object : { ...object, apiVersion },
  )
}

function namespaceFor(paramRef: ParamRef, request: AdmissionRequest): string {
  const namespace = paramRef.namespace || namespaceOf(request)
  if (namespace !== '') return namespace
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  )
}

interface ParamStore {
  get(name: string): AnyObject | undefined
  list(): readonly AnyObject[]
}

function select({ name, selector }: ParamRef, store: ParamStore): readonly AnyObject[] {
  if (name && selector) {
    throw new ConfigurationError('paramRef.name and paramRef.selector are mutually exclusive')
  }
  if (name) {
    const found = store.get(name)
    return found ? [found] : []
  }
  if (!selector) throw new ConfigurationError('one of name or selector must be provided')
  const labels = labelSelectorOf(selector)
  return store.list().filter(({ metadata }) => labels.matches(metadata.labels))
}
