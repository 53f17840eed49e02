import type { Clock, Logger } from '@skerry/base'
import type { AnyObject, KubeObject, ObjectMeta } from '@skerry/api'
import { discover, type Discovery } from './discovery.ts'
import { withQuery, type ResourceRef } from './request-path.ts'
import {
  createResourceClient,
  type CallRequest,
  type Caller,
  type ResourceClient,
} from './resource-client.ts'
import { readAnswer, readBody, statusErrorOf } from './response-body.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

export interface ClusterDeps {
  log: Logger
  clock: Clock
  /**
   * `skerry/<version> (<component>)`. The server derives the field manager from the part before the
   * slash.
   */
  userAgent: string
}

/** The objects that a metadata-only client reads. */
export interface PartialObject extends KubeObject {
  metadata: ObjectMeta
}

/** A resource and the type of its objects. resources-table.ts lists the built-in ones. */
export interface TypedResource<T extends KubeObject> extends ResourceRef {
  /** Never set; it only carries the type. */
  readonly object?: T
}

/** Returns the same resource with objects of any shape, for manifests. */
export function anyObjects(resource: ResourceRef): TypedResource<AnyObject> {
  return resource
}

/** Accesses one Kubernetes API, wherever it is. */
export interface ClusterClient {
  resource<T extends KubeObject>(resource: TypedResource<T>): ResourceClient<T>
  /**
   * Reads metadata alone if the server can send it so. This saves memory for kinds whose content is
   * not needed.
   */
  metadata(resource: ResourceRef): ResourceClient<PartialObject>
  /** Returns everything that the server serves now, in one or two requests. */
  discover(signal: AbortSignal): Promise<Discovery>
  /** Sends any request and resolves for every status. The user agent is added. */
  raw(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse>
}

export function createCluster(transport: Transport, deps: ClusterDeps): ClusterClient {
  const raw = (request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> =>
    transport.send(
      { ...request, headers: { 'user-agent': deps.userAgent, ...request.headers } },
      signal,
    )
  const send = async (request: CallRequest, signal: AbortSignal): Promise<TransportResponse> => {
    const startMs = deps.clock.monotonicMs()
    const response = await raw(encode(request), signal)
    deps.log.debug('Request answered', {
      method: request.method,
      path: request.path,
      status: response.status,
      ms: Math.round(deps.clock.monotonicMs() - startMs),
    })
    return response
  }
  const caller: Caller = {
    clock: deps.clock,
    call: async (request, signal) => readAnswer(await send(request, signal)),
    async open(request, signal) {
      const response = await send(request, signal)
      if (response.status >= 200 && response.status < 300) return response.body
      throw statusErrorOf(response, (await readBody(response.body)).toString('utf8'))
    },
  }
  return {
    resource: (resource) => createResourceClient(caller, resource),
    metadata: (resource) => createResourceClient(caller, resource, { isMetadataOnly: true }),
    discover: (signal) => discover(caller, signal),
    raw,
  }
}

function encode(request: CallRequest): TransportRequest {
  const headers: Record<string, string> = { accept: request.accept ?? 'application/json' }
  const path = withQuery(request.path, request.query ?? {})
  if (request.body === undefined) return { method: request.method, path, headers }
  headers['content-type'] = request.contentType ?? 'application/json'
  return { method: request.method, path, headers, body: Buffer.from(JSON.stringify(request.body)) }
}
