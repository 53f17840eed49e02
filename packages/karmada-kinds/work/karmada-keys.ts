/** Karmada's labels and annotations that record an object's owner and origin. */
export const karmadaKeys = Object.freeze({
  /** A label with value `true`: the object may be changed and deleted as its Work defines. */
  managed: 'karmada.io/managed',
  /** Label of a Work and its manifests. */
  workId: 'work.karmada.io/permanent-id',
  workNamespace: 'work.karmada.io/namespace',
  workName: 'work.karmada.io/name',
  /** Annotation: `overwrite` takes over an object that was there before; else it is left alone. */
  conflictResolution: 'work.karmada.io/conflict-resolution',
  templateUid: 'resourcetemplate.karmada.io/uid',
  templateGeneration: 'resourcetemplate.karmada.io/generation',
  /** Annotations that list the labels and annotations that came with the manifest, comma-separated. */
  managedLabels: 'resourcetemplate.karmada.io/managed-labels',
  managedAnnotations: 'resourcetemplate.karmada.io/managed-annotations',
  /** Label, `true`: the cluster decides on the replicas. */
  retainReplicas: 'resourcetemplate.karmada.io/retain-replicas',
})

/** Set on a Work while its objects may be in the cluster. */
export const executionFinalizer = 'karmada.io/execution-controller'

/** The labels that an object loses when it is left to its cluster. */
export const ownershipLabels: readonly string[] = Object.freeze([
  karmadaKeys.managed,
  karmadaKeys.workId,
  'resourcebinding.karmada.io/permanent-id',
  'propagationpolicy.karmada.io/permanent-id',
  'clusterpropagationpolicy.karmada.io/permanent-id',
])

export const ownershipAnnotations: readonly string[] = Object.freeze([
  karmadaKeys.managedAnnotations,
  karmadaKeys.managedLabels,
  karmadaKeys.templateUid,
  karmadaKeys.templateGeneration,
  karmadaKeys.workName,
  karmadaKeys.workNamespace,
  'resourcebinding.karmada.io/namespace',
  'resourcebinding.karmada.io/name',
  'propagationpolicy.karmada.io/namespace',
  'propagationpolicy.karmada.io/name',
  'clusterpropagationpolicy.karmada.io/name',
])
