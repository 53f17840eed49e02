import {
  StatusError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeBody,
  isJsonObject,
  type AnyObject,
} from '@skerry/api'
import type { ApiAnswer } from '../http/exchange.ts'
import { readBody } from '../http/read-body.ts'
import { typedObject } from '../registry/decode.ts'
import { trackChange } from '../registry/managed-fields.ts'
import { badRequest } from '../registry/registry-errors.ts'
import { changeObject } from '../registry/update.ts'
import { objectAnswer } from './represent.ts'
import { parseWriteOptions } from './request-options.ts'
import { scopeOf, viewFor, type HandlerDeps, type ResourceCall } from './resource-call.ts'

/** Applies the patch to any JSON object; pure. */
export type PatchFunction = (current: AnyObject) => unknown

export async function patchObject(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const { request, info, reader, warn } = call
  const options = parseWriteOptions(info.query, request.headers['user-agent'])
  const scope = scopeOf(call, options)
  const bytes = await readBody(request.body, deps.limits.bodyBytesMax)
  const { patch, findings } = patchFunction(call, bytes)
  const change = {
    next: (current: AnyObject | undefined) => {
      // changeObject never asks for a missing object unless it may be created.
      if (!current) throw new TypeError('Cannot patch: there is no object')
      const patched = patch(structuredClone(current))
      if (!isJsonObject(patched)) throw badRequest('error decoding patch: the result is no object')
      const next = typedObject(patched, findings, {
        kind: reader.kind,
        fieldValidation: options.fieldValidation,
        warn,
      })
      trackChange(next, current, scope, deps)
      return next
    },
    mayCreate: false,
    attemptsMax: deps.limits.patchAttemptsMax,
  }
  const { cached } = await changeObject(change, scope, deps)
  return objectAnswer(200, cached, view)
}

/** By content type. Throws UnsupportedMediaType. */
export function patchFunction(
  call: Pick<ResourceCall, 'request' | 'reader'>,
  bytes: Uint8Array,
): { patch: PatchFunction; findings: readonly string[] } {
  const contentType = mediaType(call.request.headers['content-type'])
  const { kind } = call.reader
  const decode = () => decodeBody(bytes, 'application/json', { isStrict: true })
  switch (contentType) {
    case 'application/json-patch+json': {
      const { value } = decode()
      return { patch: (current) => applyJsonPatch(current, value), findings: [] }
    }
    case 'application/merge-patch+json': {
      const { value, duplicates } = decode()
      return { patch: (current) => applyMergePatch(current, value), findings: duplicates }
    }
    case 'application/strategic-merge-patch+json': {
      if (kind.isCustom) break
      const { value, duplicates } = decode()
      const type = { schemas: kind.schemas, schemaName: kind.schemaName }
      return {
        patch: (current) => applyStrategicMergePatch(current, value, type),
        findings: duplicates,
      }
    }
    default:
  }
  throw unsupportedPatch(kind.isCustom === true)
}

export function mediaType(contentType = ''): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase()
}

function unsupportedPatch(isCustom: boolean): StatusError {
  const types = [
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(isCustom ? [] : ['application/strategic-merge-patch+json']),
    'application/apply-patch+yaml',
  ]
  return new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
  )
}
