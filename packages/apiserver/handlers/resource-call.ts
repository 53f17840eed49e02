import { StatusError } from '@skerry/api'
import type { UserInfo } from '../access.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { negotiate, wantsPretty } from '../http/negotiate.ts'
import { readBody } from '../http/read-body.ts'
import type { RequestInfo } from '../http/request-info.ts'
import { decodeKindObject } from '../registry/decode.ts'
import type { KindReader } from '../registry/kind-reader.ts'
import type { RegistryDeps, RequestScope } from '../registry/request-scope.ts'
import { viewOf, type View } from './represent.ts'
import type { WriteOptions } from './request-options.ts'
import type { WatchCount } from './watch-handler.ts'

/** An authorized request for a served kind. */
export interface ResourceCall {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly reader: KindReader
  readonly user: UserInfo
  readonly warn: (text: string) => void
  readonly signal: AbortSignal
}

export type HandlerDeps = RegistryDeps & { readonly watchCount: WatchCount }

export function scopeOf(call: ResourceCall, options?: WriteOptions): RequestScope {
  const { info, reader, user, warn, signal } = call
  return {
    reader,
    namespace: reader.kind.isNamespaced ? info.namespace : '',
    name: info.name,
    subresource: info.subresource,
    user,
    isDryRun: options?.isDryRun ?? false,
    fieldManager: options?.fieldManager ?? '',
    fieldValidation: options?.fieldValidation ?? 'Ignore',
    warn,
    signal,
    options: undefined,
  }
}

export function viewFor(call: ResourceCall, deps: RegistryDeps): View {
  const { info, request, reader } = call
  const { headers } = request
  const isPretty = wantsPretty(info.query, headers['user-agent'])
  return viewOf(reader, negotiate(headers['accept'], isPretty), {
    query: info.query,
    nowMs: deps.clock.now(),
    chunkBytes: deps.limits.chunkBytes,
  })
}

export async function decodeBodyOf(call: ResourceCall, options: WriteOptions, deps: RegistryDeps) {
  const { request, reader, warn } = call
  const bytesMax = deps.limits.bodyBytesMax
  const bytes = await readBody(request.body, bytesMax)
  if (bytes.length === 0) throw new StatusError('BadRequest', 'the body of the request is empty')
  return decodeKindObject({
    kind: reader.kind,
    bytes,
    contentType: request.headers['content-type'] ?? '',
    fieldValidation: options.fieldValidation,
    bytesMax,
    warn,
  })
}
