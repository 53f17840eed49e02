import { equalJson, type AnyObject } from '@skerry/api'
import {
  carriedManifest,
  karmadaKeys,
  workNameOf,
  type ResourceBinding,
  type Work,
  type WorkSpec,
} from '@skerry/karmada-kinds'
import { executionNamespace } from '@skerry/fleet-kinds'
import { appliedOverrideKeys } from '../overrides/applied-overrides.ts'
import { originAnnotations, type BindingScope } from './binding-scope.ts'
import { isSuspendedOn } from './binding-targets.ts'

/** The object for one cluster, as its Work will carry it. */
export interface WorkInput {
  readonly scope: BindingScope
  readonly binding: ResourceBinding
  /** The object as it is on the hub. */
  readonly template: AnyObject
  /** The same for this cluster: its replicas, and overrides. */
  readonly manifest: AnyObject
  readonly cluster: string
  /** The annotations of the Work that list the applied overrides. */
  readonly overrides?: Readonly<Record<string, string>>
}

/** The Work that brings an object to a cluster. Pure. */
export function plannedWork(input: WorkInput): Work {
  const { scope, binding, template, manifest, cluster } = input
  const { namespace, name = '' } = template.metadata
  const id = binding.metadata.labels?.[scope.idLabel] ?? ''
  const origin = originAnnotations(scope, binding)
  const resolution = conflictResolution(manifest, binding)
  const work = {
    namespace: executionNamespace(cluster),
    name: workNameOf({ kind: template.kind, name, ...(namespace ? { namespace } : {}) }),
  }
  const added = {
    ...templateAnnotations(template),
    ...origin,
    [karmadaKeys.conflictResolution]: resolution,
  }
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: {
      ...work,
      labels: { [scope.idLabel]: id },
      annotations: {
        ...origin,
        [karmadaKeys.conflictResolution]: resolution,
        ...input.overrides,
      },
    },
    spec: {
      workload: { manifests: [withMetadata(manifest, { [scope.idLabel]: id }, added)] },
      suspendDispatching: isSuspendedOn(binding.spec, cluster),
      preserveResourcesOnDeletion: binding.spec.preserveResourcesOnDeletion ?? false,
    },
  }
}

/** Returns the Work of a namespace itself, which goes to every cluster that gets one of its objects. */
export function plannedNamespaceWork(
  template: AnyObject,
  manifest: AnyObject,
  { cluster, overrides }: Pick<WorkInput, 'cluster' | 'overrides'>,
): Work {
  const { name = '', uid = '' } = template.metadata
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: {
      namespace: executionNamespace(cluster),
      name: workNameOf({ kind: 'Namespace', name }),
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...(overrides ? { annotations: { ...overrides } } : {}),
    },
    spec: {
      workload: { manifests: [withMetadata(manifest, {}, { [karmadaKeys.templateUid]: uid })] },
    },
  }
}

/** Returns the merge patch that makes a Work as planned, or undefined if it already is. */
export function workPatch(known: Work, planned: Work): unknown {
  const { labels, annotations } = planned.metadata
  const { suspendDispatching = null, preserveResourcesOnDeletion = null, workload } = planned.spec
  const spec = { workload, suspendDispatching, preserveResourcesOnDeletion }
  const isSame =
    hasAll(known.metadata.labels, labels) &&
    hasAll(known.metadata.annotations, annotations) &&
    equalJson(wantedSpec(known.spec, known), wantedSpec(planned.spec, known))
  const gone = Object.keys(known.metadata.annotations ?? {}).filter(
    (key) => overrideAnnotations.includes(key) && annotations?.[key] === undefined,
  )
  if (isSame && gone.length === 0) return undefined
  const removed = Object.fromEntries(gone.map((key) => [key, null]))
  return { metadata: { labels, annotations: { ...annotations, ...removed } }, spec }
}

const overrideAnnotations: readonly string[] = Object.values(appliedOverrideKeys)

/** Returns the spec as the API server stores it, with the Work's name on each manifest. */
function wantedSpec(
  { workload, suspendDispatching, preserveResourcesOnDeletion }: WorkSpec,
  { metadata }: Work,
): unknown {
  const { namespace = '', name = '', labels } = metadata
  const permanentId = labels?.[karmadaKeys.workId] ?? ''
  return {
    manifests: (workload?.manifests ?? []).map((manifest) =>
      carriedManifest(manifest, { namespace, name, permanentId }),
    ),
    isSuspended: suspendDispatching === true,
    isPreserved: preserveResourcesOnDeletion === true,
  }
}

function hasAll(
  there: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => there[key] === value)
}

function templateAnnotations({ metadata }: AnyObject): Record<string, string> {
  const { uid = '', generation = 0 } = metadata
  return {
    [karmadaKeys.templateUid]: uid,
    ...(generation > 0 ? { [karmadaKeys.templateGeneration]: String(generation) } : {}),
  }
}

/** The object's own annotation, after overrides, takes precedence over the policy. */
function conflictResolution({ metadata }: AnyObject, { spec }: ResourceBinding): string {
  const own = metadata.annotations?.[karmadaKeys.conflictResolution]
  if (own === 'overwrite' || own === 'abort') return own
  return spec.conflictResolution === 'Overwrite' ? 'overwrite' : 'abort'
}

function withMetadata(
  manifest: AnyObject,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): AnyObject {
  const { metadata } = manifest
  return {
    ...manifest,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  }
}
