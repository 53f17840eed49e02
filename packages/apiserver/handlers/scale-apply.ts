import { applyServerSide } from '@skerry/bodies'
import { isJsonObject, type AnyObject, type ManagedFieldsEntry } from '@skerry/api'
import { isTrue } from '../contract/request-info.ts'
import { readBody } from '../http/read-body.ts'
import type { RequestScope } from '../registry/request-scope.ts'
import { decodeConfiguration } from './patch-handler.ts'
import { readYamlOf, type HandlerDeps, type ResourceCall } from './resource-call.ts'

const scaleVersion = 'autoscaling/v1'
const scaleReplicas = ['spec', 'replicas']

export interface AppliedScale {
  readonly scale: AnyObject
  /** The managed fields of the scaled object. */
  readonly managedFields: readonly ManagedFieldsEntry[]
}

export interface ScaledKind {
  readonly schemaName: string
  /** The path in the scaled object of the field that a Scale holds in spec.replicas. */
  readonly replicasPath: readonly string[]
}

/**
 * Applies a Scale (server-side apply). The owner of its replicas is recorded in the managed fields
 * of the scaled object, under the path that replicas have there. The rest of those entries stays as
 * it is.
 */
export async function scaleApply(
  call: ResourceCall,
  { schemaName, replicasPath }: ScaledKind,
  scope: RequestScope,
  deps: HandlerDeps,
): Promise<(current: AnyObject, live: AnyObject) => AppliedScale> {
  const { body, held } = call.request
  const bytes = await readBody(body, deps.limits.bodyBytesMax, held)
  const { configuration } = await decodeConfiguration(bytes, readYamlOf(call, deps))
  const { kind, apiVersion } = call.reader
  return (current, live) => {
    const entries = current.metadata.managedFields ?? []
    const scale = applyServerSide({
      live: { ...live, metadata: { ...live.metadata, managedFields: scaleEntries(entries) } },
      applied: configuration,
      isForced: isTrue(call.info.query.get('force')),
      schemas: kind.schemas,
      schemaName,
      manager: scope.fieldManager,
      apiVersion: scaleVersion,
      kind: 'Scale',
      subresource: 'scale',
      nowMs: deps.clock.now(),
    })
    const owners = (scale.metadata.managedFields ?? []).filter((entry) =>
      hasField(entry.fieldsV1, scaleReplicas),
    )
    return { scale, managedFields: objectEntries(owners) }

    function scaleEntries(all: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
      return all
        .filter((entry) => hasField(entry.fieldsV1, replicasPath))
        .map((entry) => ({
          ...entry,
          apiVersion: scaleVersion,
          fieldsV1: fieldAt(scaleReplicas),
        }))
    }

    function objectEntries(owning: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
      const kept = entries.flatMap((entry) => {
        if (owning.some((owner) => isSameOwner(owner, entry))) return [entry]
        const fieldsV1 = withoutField(entry.fieldsV1, replicasPath)
        return Object.keys(fieldsV1).length === 0 ? [] : [{ ...entry, fieldsV1 }]
      })
      const added = owning
        .filter((owner) => !entries.some((entry) => isSameOwner(owner, entry)))
        // Upstream's scale endpoint records no time.
        .map(({ time: _time, ...owner }) => ({
          ...owner,
          apiVersion,
          fieldsV1: fieldAt(replicasPath),
        }))
      return [...added, ...kept]
    }
  }
}

function isSameOwner(one: ManagedFieldsEntry, other: ManagedFieldsEntry): boolean {
  return (
    one.manager === other.manager &&
    one.operation === other.operation &&
    (one.subresource ?? '') === (other.subresource ?? '')
  )
}

type Fields = Record<string, unknown>

export function hasField(fields: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true
  return isJsonObject(fields) && `f:${first}` in fields && hasField(fields[`f:${first}`], rest)
}

function fieldAt([first, ...rest]: readonly string[]): Fields {
  return first === undefined ? {} : { [`f:${first}`]: fieldAt(rest) }
}

function withoutField(fields: unknown, [first, ...rest]: readonly string[]): Fields {
  if (!isJsonObject(fields) || first === undefined) return {}
  const { [`f:${first}`]: inner, ...others } = fields
  if (inner === undefined) return others
  const left = withoutField(inner, rest)
  return Object.keys(left).length === 0 ? others : { ...others, [`f:${first}`]: left }
}
