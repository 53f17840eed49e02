import {
  StatusError,
  fieldForbidden,
  fieldRequired,
  isJsonObject,
  isStatusError,
  validateManagerName,
  type AnyObject,
  type Kind,
} from '@skerry/api'
import {
  applyMergePatch,
  applyStrategicMergePatch,
  decodeBody,
  decodeBodyBy,
  jsonPatchSteps,
  objectOfBody,
  type ReadYaml,
  type Steps,
} from '@skerry/bodies'
import type { ApiAnswer } from '../contract/exchange.ts'
import { readBody } from '../http/read-body.ts'
import { isTrue } from '../contract/request-info.ts'
import { appliedSteps, changeSteps } from '../registry/managed-fields.ts'
import { requireStorable } from '../registry/object-size.ts'
import { badRequest, invalid, requireValid, unnamed } from '../registry/registry-errors.ts'
import { paced, type RequestScope } from '../registry/request-scope.ts'
import { changeObject } from '../registry/update.ts'
import { patchedObject, typedApplied, type Patch } from './patched-object.ts'
import { objectAnswer } from './represent.ts'
import { parseWriteOptions, type WriteOptions } from './request-options.ts'
import {
  readYamlOf,
  registeredIn,
  scopeOf,
  viewFor,
  type HandlerDeps,
  type ResourceCall,
} from './resource-call.ts'

export async function patchObject(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const { request, info } = call
  const isApply = isApplyPatch(request)
  const options = parseWriteOptions(info, isApply ? '' : request.headers['user-agent'])
  requirePatchOptions(options, isApply, info.query)
  const scope = scopeOf(call, options)
  const bytes = await readBody(request.body, deps.limits.bodyBytesMax, request.held)
  const change = {
    next: isApply ? await applyTo(bytes, call, scope, deps) : patchTo(bytes, call, scope, deps),
    mayCreate: isApply && scope.subresource === '',
    isDerived: true,
    attemptsMax: deps.limits.patchAttemptsMax,
  }
  const { cached, isCreated } = await changeObject(change, scope, deps)
  return objectAnswer(isCreated ? 201 : 200, cached, view)
}

type Next = (current: AnyObject | undefined) => Promise<AnyObject>

function patchTo(
  bytes: Uint8Array,
  call: ResourceCall,
  scope: RequestScope,
  deps: HandlerDeps,
): Next {
  const plan = patchFunction(call, bytes)
  const request = { ...scope, kind: scope.reader.kind, isRegistered: registeredIn(deps) }
  return async (current) => {
    // changeObject never asks for a missing object unless it may be created.
    if (!current) throw new TypeError('Cannot patch: there is no object')
    const next = await patchedObject(current, plan, request)
    if (scope.pace?.isLarge) requireStorable(next, deps.limits)
    await scope.pace?.pause()
    await paced(changeSteps(next, current, scope, deps), scope)
    return next
  }
}

/** Serves server-side apply, in JSON or YAML. */
async function applyTo(
  bytes: Uint8Array,
  call: ResourceCall,
  scope: RequestScope,
  deps: HandlerDeps,
): Promise<Next> {
  const readYaml = readYamlOf(call, deps)
  const { configuration, duplicates } = await decodeConfiguration(bytes, readYaml)
  await scope.pace?.pause()
  const isForced = isTrue(call.info.query.get('force'))
  const { kind } = call.reader
  return async (live) => {
    if (!live && !configuration.metadata.name) throw unnamed(scope.name)
    const steps = appliedSteps({ live, applied: configuration, isForced }, scope, deps)
    const next = await paced(steps, scope)
    await scope.pace?.pause()
    return typedApplied(next, duplicates, { ...scope, kind, configuration })
  }
}

/** Decodes the configuration that a client applies, in JSON or YAML. */
export async function decodeConfiguration(
  bytes: Uint8Array,
  readYaml: ReadYaml,
): Promise<{ configuration: AnyObject; duplicates: readonly string[] }> {
  const options = { isStrict: true, isApplied: true }
  const body = await decodeBodyBy(readYaml, bytes, 'application/yaml', options)
  const { object, duplicates } = objectOfBody(body, bytes, options)
  const { apiVersion = '', kind = '', metadata = {} } = object
  const isNamed = typeof apiVersion === 'string' && typeof kind === 'string'
  if (!isNamed || !isJsonObject(metadata)) {
    throw badRequest('error decoding YAML: apiVersion, kind and metadata are required')
  }
  return { configuration: { ...object, apiVersion, kind, metadata }, duplicates }
}

const applyTypes = new Set(['application/apply-patch+yaml', 'application/apply-patch+json'])

export function isApplyPatch({ headers }: ResourceCall['request']): boolean {
  return applyTypes.has(mediaType(headers['content-type']))
}

const patchOptionsKind = Object.freeze({ group: 'meta.k8s.io', kind: 'PatchOptions', resource: '' })

export function requirePatchOptions(
  { fieldManager }: WriteOptions,
  isApply: boolean,
  query: URLSearchParams,
): void {
  if (isApply && !query.get('fieldManager')) {
    throw invalid(patchOptionsKind, '', [
      fieldRequired('fieldManager', 'is required for apply patch'),
    ])
  }
  if (!isApply && query.has('force')) {
    const detail = 'may not be specified for non-apply patch'
    throw invalid(patchOptionsKind, '', [fieldForbidden('force', detail)])
  }
  requireValid(patchOptionsKind, '', validateManagerName(fieldManager, 'fieldManager'))
}

/** Selects the patch type by content type. Throws UnsupportedMediaType. */
export function patchFunction(
  call: Pick<ResourceCall, 'request' | 'reader'>,
  bytes: Uint8Array,
): Patch {
  const contentType = mediaType(call.request.headers['content-type'])
  const { kind } = call.reader
  const decode = () => decodePatch(bytes, 'error decoding patch: ')
  switch (contentType) {
    case 'application/json-patch+json': {
      const { value } = decode()
      return { patch: (current) => jsonPatchSteps(current, value), findings: [] }
    }
    case 'application/merge-patch+json': {
      const { value, duplicates } = decode()
      return {
        patch: (current) => oneStep(() => applyMergePatch(current, value)),
        findings: duplicates,
      }
    }
    case 'application/strategic-merge-patch+json': {
      if (kind.isCustom) break
      const { value, duplicates } = decodePatch(bytes, '')
      const type = { schemas: kind.schemas, schemaName: kind.schemaName }
      return {
        patch: (current) => oneStep(() => applyStrategicMergePatch(current, value, type)),
        findings: duplicates,
        merged: value,
      }
    }
    default:
  }
  throw unsupportedPatch(kind)
}

// oxlint-disable-next-line require-yield -- what takes one step yields nothing between two.
function* oneStep(patch: () => unknown): Steps<unknown> {
  return patch()
}

function decodePatch(bytes: Uint8Array, prefix: string): ReturnType<typeof decodeBody> {
  try {
    return decodeBody(bytes, 'application/json', { isStrict: true })
  } catch (error) {
    if (!isStatusError(error, 'BadRequest')) throw error
    const { message } = error.cause instanceof SyntaxError ? error.cause : error
    throw new StatusError('BadRequest', `${prefix}${message}`, { cause: error })
  }
}

export function isPatchType(contentType: string | undefined): boolean {
  const type = mediaType(contentType)
  return plainPatchTypes.has(type) || applyTypes.has(type)
}

const plainPatchTypes: ReadonlySet<string> = new Set([
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
])

function mediaType(contentType = ''): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase()
}

function unsupportedPatch({ isCustom }: Kind): StatusError {
  if (isCustom) {
    const types = [...plainPatchTypes].filter((type) => !type.includes('strategic'))
    const list = [...types, 'application/apply-patch+yaml'].join(', ')
    const message = `the body of the request was in an unknown format - accepted media types include: ${list}`
    return new StatusError('UnsupportedMediaType', message)
  }
  return new StatusError('UnsupportedMediaType', '415: Unsupported Media Type', { details: {} })
}
