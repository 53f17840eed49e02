import { StatusError, type AnyObject, type GroupVersionKind } from '@skerry/api'
import type { Objects } from '../contract/objects.ts'
import type { ApiAnswer } from '../contract/exchange.ts'
import { methodNotAllowed } from '../contract/status-answer.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import { admit, admitValid, type AdmissionInput } from '../registry/admission-chain.ts'
import { trackBody } from '../registry/managed-fields.ts'
import { decodeKindObject } from '../registry/decode.ts'
import type { RequestDeps } from '../registry/request-scope.ts'
import type {
  SubresourceHandler,
  SubresourceRequest,
  UpgradeSocket,
} from '../contract/subresource.ts'
import { connectOptions } from './connect-options.ts'
import { valueAnswer } from './represent.ts'
import { parseWriteOptions } from './request-options.ts'
import {
  readObjectBody,
  readYamlOf,
  registeredIn,
  scopeOf,
  viewFor,
  type ResourceCall,
} from './resource-call.ts'

/** A subresource that the generic registry does not serve. */
export async function serveSubresource(
  handler: SubresourceHandler,
  call: ResourceCall,
  deps: RequestDeps & { objects: Objects },
): Promise<ApiAnswer> {
  const answer = await handler.serve(await subresourceRequest(call, deps))
  if (answer.type === 'stream') {
    return { status: answer.status, headers: answer.headers, body: answer.body }
  }
  return valueAnswer(answer.status, answer.object, viewFor(call, deps).representation)
}

export async function upgradeSubresource(
  handler: SubresourceHandler,
  call: ResourceCall,
  client: UpgradeSocket,
  deps: RequestDeps & { objects: Objects },
): Promise<void> {
  if (!handler.upgrade) throw methodNotAllowed()
  await handler.upgrade(await subresourceRequest(call, deps), client)
}

const proxyMethods: ReadonlySet<string> = new Set([
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
])

async function subresourceRequest(
  call: ResourceCall,
  deps: RequestDeps & { objects: Objects },
): Promise<SubresourceRequest> {
  const { info, request, reader, user, requireVerb, signal } = call
  const record = reader.kind.subresources.find(({ name }) => name === info.subresource)
  if (!record) throw new StatusError('NotFound', 'the server could not find the requested resource')
  // A proxy forwards any request, with the methods that upstream allows.
  const isServed =
    record.name === 'proxy'
      ? proxyMethods.has(info.method)
      : record.verbs.includes(info.verb) && info.method !== 'HEAD'
  if (!isServed) throw methodNotAllowed()
  const options = parseWriteOptions(info, request.headers['user-agent'])
  const scope = scopeOf(call, options)
  const object = await bodyObject(call, deps)
  // Other bodies become a part of their object and are not shown.
  if (object && record.kind.kind === 'TokenRequest') {
    trackBody(object, bodyKinds['TokenRequest'] ?? '', scope, deps)
  }
  return {
    verb: info.verb,
    kind: reader.kind,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    restOfPath: info.restOfPath,
    query: info.query,
    headers: request.headers,
    method: info.method,
    object,
    rawBody: request.body,
    user,
    isDryRun: options.isDryRun,
    objects: deps.objects,
    signal,
    requireVerb,
    async admit(admitted) {
      if (info.verb === 'create' && object !== undefined) {
        return admit({ operation: 'CREATE', object: admitted, oldObject: undefined }, scope, deps)
      }
      const input = connectInput(record.kind, info)
      const admitting = { ...scope, options: undefined }
      await admit(input, admitting, deps)
      await admitValid(input, admitting, deps)
    },
    admitValid: (admitted) =>
      admitValid({ operation: 'CREATE', object: admitted, oldObject: undefined }, scope, deps),
  }
}

function connectInput(kind: GroupVersionKind, { query, restOfPath }: RequestInfo): AdmissionInput {
  const object = connectOptions(kind, query, restOfPath)
  return { operation: 'CONNECT', object, oldObject: undefined }
}

/** Only creates of a kind that the server knows (Binding, Eviction, TokenRequest) have an object. */
async function bodyObject(call: ResourceCall, deps: RequestDeps): Promise<AnyObject | undefined> {
  const { info, reader, warn } = call
  if (info.verb !== 'create') return undefined
  const record = reader.kind.subresources.find(({ name }) => name === info.subresource)
  const bodyKind = record && bodyKinds[record.kind.kind]
  if (!record || !bodyKind) return undefined
  const { bytes, contentType } = await readObjectBody(call, bodyKind, deps)
  const bytesMax = deps.limits.bodyBytesMax
  const { group, version, kind } = record.kind
  return decodeKindObject({
    kind: { ...reader.kind, group, version, kind, schemaName: bodyKind, strategy: {} },
    sameVersions: sameVersions[kind],
    bytes,
    contentType,
    fieldValidation: 'Ignore',
    bytesMax,
    readYaml: readYamlOf(call, deps),
    warn,
    isRegistered: registeredIn(deps),
  })
}

/** The kinds of bodies of a subresource's create, and their schemas. */
const bodyKinds: Readonly<Record<string, string>> = Object.freeze({
  Binding: 'io.k8s.api.core.v1.Binding',
  Eviction: 'io.k8s.api.policy.v1.Eviction',
  TokenRequest: 'io.k8s.api.authentication.v1.TokenRequest',
})

/** Upstream also reads the version of Eviction that it served until 1.24, which clients still send. */
const sameVersions: Readonly<Record<string, readonly string[]>> = Object.freeze({
  Eviction: ['policy/v1beta1'],
})
