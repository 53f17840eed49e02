import {
  fieldRequired,
  isJsonObject,
  type AnyObject,
  type StatusCause,
  type StrategyContext,
} from '@skerry/api'
import { executionNamespace, fieldAt, textAt } from '@skerry/fleet-kinds'
import { addFinalizer, type KindRules } from '../rules/kind-rules.ts'
import { executionFinalizer, karmadaKeys } from './karmada-keys.ts'
import { carriedManifest } from './manifest-metadata.ts'

/**
 * The rules of Work: each manifest names its Work, and the agent must release the objects before the Work is
 * gone.
 */
export const workKindRules: KindRules = Object.freeze({
  prepare(next, context, isCreate) {
    // Without the finalizer, its objects would stay behind when it is deleted.
    if (isCreate && isExecuted(next)) addFinalizer(next, executionFinalizer)
    carryManifests(next, context)
  },
  validate: (next) => validateManifests(next),
} satisfies KindRules)

/** No agent applies a Work in another namespace. */
function isExecuted({ metadata }: AnyObject): boolean {
  return metadata.namespace?.startsWith(executionNamespace('')) === true
}

/** Karmada's webhook does the same. */
function carryManifests(next: AnyObject, { newUid }: StrategyContext): void {
  const { metadata } = next
  const permanentId = metadata.labels?.[karmadaKeys.workId] || newUid()
  metadata.labels = { ...metadata.labels, [karmadaKeys.workId]: permanentId }
  const workload = fieldAt(next, 'spec', 'workload')
  if (!isJsonObject(workload) || !Array.isArray(workload['manifests'])) return
  const { namespace = '', name = '' } = metadata
  workload['manifests'] = workload['manifests'].map((manifest: unknown) =>
    isManifest(manifest) ? carriedManifest(manifest, { namespace, name, permanentId }) : manifest,
  )
}

/** The validation that follows reports other values. */
function isManifest(value: unknown): value is AnyObject {
  return (
    textAt(value, 'apiVersion') !== '' &&
    textAt(value, 'kind') !== '' &&
    textAt(value, 'metadata', 'name') !== ''
  )
}

function validateManifests(object: AnyObject): StatusCause[] {
  const manifests = fieldAt(object, 'spec', 'workload', 'manifests')
  if (!Array.isArray(manifests)) return []
  return manifests.flatMap((manifest: unknown, ordinal) =>
    [['apiVersion'], ['kind'], ['metadata', 'name']]
      .filter((path) => textAt(manifest, ...path) === '')
      .map((path) =>
        fieldRequired(
          `spec.workload.manifests[${ordinal}].${path.join('.')}`,
          'a manifest has an apiVersion, a kind and a name',
        ),
      ),
  )
}
