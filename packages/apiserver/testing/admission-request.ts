import type { AnyObject, GroupVersionResource, Kind } from '@skerry/api'
import type { UserInfo } from '../contract/access.ts'
import type { AdmissionRequest, Operation } from '../contract/admission.ts'

export interface RequestParts {
  operation?: Operation
  resource: GroupVersionResource
  subresource?: string
  /** Default: none, as for a POST. */
  pathName?: string
  object?: object
  oldObject?: object
  user?: UserInfo
  options?: object
  warnings?: string[]
}

/** Creates an admission request for table tests; namespace and name are those of the object. */
export function admissionRequest(parts: RequestParts): AdmissionRequest {
  // Tests write the fields that the plugin under test reads.
  const object = parts.object as AnyObject | undefined
  const oldObject = parts.oldObject as AnyObject | undefined
  const metadata = (object ?? oldObject)?.metadata ?? {}
  return {
    operation: parts.operation ?? 'CREATE',
    // Plugins know kinds by their resource; the record itself is the registry's.
    kind: { ...parts.resource, kind: '' } as unknown as Kind,
    resource: parts.resource,
    subresource: parts.subresource ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    pathName: parts.pathName ?? '',
    object,
    oldObject,
    objectKind: { group: parts.resource.group, version: parts.resource.version, kind: '' },
    versions: {
      equivalents: () => [],
      convert: async (same) => same,
      conform: (same) => same,
      findKind: () => undefined,
    },
    isInternal: false,
    annotate: () => undefined,
    reinvocation: { isSecond: false, isWanted: false, notes: new Map() },
    signal: new AbortController().signal,
    user: parts.user ?? { name: 'jane', groups: [], extra: {} },
    isDryRun: false,
    options: parts.options as AnyObject | undefined,
    warn: (text) => void parts.warnings?.push(text),
  }
}
