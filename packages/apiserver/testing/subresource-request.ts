import type { AnyObject, Kind } from '@skerry/api'
import type { Objects } from '../contract/objects.ts'
import type { SubresourceRequest } from '../contract/subresource.ts'

export interface SubresourceParts {
  objects: Objects
  subresource?: string
  namespace?: string
  name: string
  object?: object
  query?: string
  restOfPath?: string
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array
  isDryRun?: boolean
  signal?: AbortSignal
}

/** Creates a request for a subresource handler that admission accepts. */
export function subresourceRequest(parts: SubresourceParts): SubresourceRequest {
  return {
    verb: 'create',
    // Handlers are chosen by resource and subresource; none reads the kind's record.
    kind: {} as unknown as Kind,
    subresource: parts.subresource ?? '',
    namespace: parts.namespace ?? 'shop',
    name: parts.name,
    restOfPath: parts.restOfPath ?? '',
    query: new URLSearchParams(parts.query),
    headers: parts.headers ?? {},
    method: parts.method ?? 'GET',
    // Tests write the fields that the handler under test reads.
    object: parts.object as AnyObject | undefined,
    rawBody: bodyOf(parts.body),
    user: { name: 'jane', groups: [], extra: {} },
    isDryRun: parts.isDryRun ?? false,
    objects: parts.objects,
    signal: parts.signal ?? new AbortController().signal,
    requireVerb: async () => undefined,
    admit: async () => undefined,
    admitValid: async () => undefined,
  }
}

async function* bodyOf(body: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (body) yield body
}
