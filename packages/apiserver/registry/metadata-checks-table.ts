import {
  validateMetaForm,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateOwnFinalizers,
  type AnyObject,
  type Kind,
  type ObjectMeta,
  type StatusCause,
} from '@skerry/api'

/**
 * One of upstream's checks of an update's metadata, in addition to those for every kind. Their
 * number and order differ by kind, and each reports the errors again. `update` compares with the
 * old metadata, `form` checks only the new metadata, names included, and `named` ones also require
 * finalizers that name their owner. The kind's own errors come after all of them, except that those
 * of the new object alone (validateForm) come at `own`.
 */
type Look = 'update' | 'form' | 'named update' | 'named form' | 'own'

const usual: readonly Look[] = ['named update']

/** Keyed `group/Kind`; those of a status are listed below. */
const looksOfKinds: Readonly<Record<string, readonly Look[]>> = Object.freeze({
  ...same(
    ['named update', 'named form'],
    ['/ConfigMap', '/Endpoints', '/PersistentVolumeClaim', '/Pod', '/Secret', '/ServiceAccount'],
    ['apps/ControllerRevision', 'networking.k8s.io/Ingress', 'networking.k8s.io/IngressClass'],
    ['storage.k8s.io/VolumeAttributesClass'],
  ),
  ...same(
    ['named form', 'named update'],
    ['/Namespace', 'certificates.k8s.io/CertificateSigningRequest'],
    ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate'].map(
      (kind) => `resource.k8s.io/${kind}`,
    ),
  ),
  ...same(
    ['named form', 'own', 'named update'],
    ['/Node', 'batch/Job', 'networking.k8s.io/IPAddress'],
    ['storage.k8s.io/CSIStorageCapacity', 'storage.k8s.io/StorageClass'],
    ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map(
      (kind) => `rbac.authorization.k8s.io/${kind}`,
    ),
  ),
  ...same(
    ['named form'],
    ['/LimitRange', 'discovery.k8s.io/EndpointSlice', 'storage.k8s.io/CSINode'],
    ['storage.k8s.io/VolumeAttachment', 'flowcontrol.apiserver.k8s.io/FlowSchema'],
    ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration'],
  ),
  ...same(['named form', 'named form'], ['/PersistentVolume']),
  ...same(
    ['form'],
    [
      'MutatingAdmissionPolicy',
      'MutatingAdmissionPolicyBinding',
      'MutatingWebhookConfiguration',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      'ValidatingWebhookConfiguration',
    ].map((kind) => `admissionregistration.k8s.io/${kind}`),
  ),
  ...same(['form', 'update'], ['node.k8s.io/RuntimeClass']),
  ...same(['update', 'form'], ['apiregistration.k8s.io/APIService']),
  ...same(
    ['update'],
    ['apiextensions.k8s.io/CustomResourceDefinition', 'coordination.k8s.io/Lease'],
    ['coordination.k8s.io/LeaseCandidate'],
  ),
  ...same(['own', 'named update'], ['events.k8s.io/Event']),
  ...same([], ['/Event', 'policy/PodDisruptionBudget']),
})

/**
 * Kinds whose creation reports other errors first: `form` those of the new object alone, `own` only
 * its own.
 */
const firstOfCreates: Readonly<Record<string, 'form' | 'own'>> = Object.freeze({
  '/Event': 'own',
  'events.k8s.io/Event': 'form',
})

const looksOfStatuses: Readonly<Record<string, readonly Look[]>> = Object.freeze({
  ...same(['named form', 'named update'], ['certificates.k8s.io/CertificateSigningRequest']),
  ...same(['update'], ['apiextensions.k8s.io/CustomResourceDefinition']),
  ...same([], ['batch/CronJob', 'policy/PodDisruptionBudget']),
})

/** Kinds whose names upstream checks by their schema, which does not cover generateName. */
const anyGenerateName: ReadonlySet<string> = new Set([
  '/ReplicationController',
  'resource.k8s.io/DeviceClass',
])

/** Returns the errors in the metadata of an object to create, or of a new one alone. */
function checkNewMetadata(metadata: ObjectMeta, kind: Kind): StatusCause[] {
  const { generateName: _any, ...named } = metadata
  const checked = anyGenerateName.has(`${kind.group}/${kind.kind}`) ? named : metadata
  return validateObjectMeta(checked, kind.strategy.nameRule ?? 'dns-subdomain', kind.isNamespaced)
}

/** Returns the errors of a new object, including its metadata. */
export function checkCreate(next: AnyObject, kind: Kind): StatusCause[] {
  const { validate, validateForm } = kind.strategy
  const metadata = [
    ...checkNewMetadata(next.metadata, kind),
    ...(knowsFinalizers(kind) ? validateOwnFinalizers(next.metadata) : []),
  ]
  const own = validate?.(next) ?? []
  const first = firstOfCreates[`${kind.group}/${kind.kind}`]
  if (first === 'own' && own.length > 0) return own
  // The errors of validateForm come first in the kind's own list, and here before those of the
  // metadata.
  const before = first === 'form' ? (validateForm?.(next) ?? []).length : 0
  return [...own.slice(0, before), ...metadata, ...own.slice(before)]
}

/** Groups, and kinds of the core group, whose objects may have any well-formed finalizer. */
const anyFinalizer: ReadonlySet<string> = new Set([
  '/Event',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
  'policy',
])

function knowsFinalizers({ isCustom, group, kind }: Kind): boolean {
  return !isCustom && !anyFinalizer.has(group) && !anyFinalizer.has(`${group}/${kind}`)
}

export interface OwnCauses {
  readonly kind: Kind
  readonly subresource: string
  /** The kind's errors in the new object alone. */
  readonly form: readonly StatusCause[]
  /** The kind's other errors. */
  readonly own: readonly StatusCause[]
}

/** Returns the errors of an update, those of the metadata as often as upstream reports them. */
export function checkUpdate(
  next: ObjectMeta,
  old: ObjectMeta,
  { kind, subresource, form, own }: OwnCauses,
): StatusCause[] {
  const usually = [...validateMetaForm(next), ...validateObjectMetaUpdate(next, old)]
  const looks = looksAt(kind, subresource)
  const further = looks.flatMap((look) => {
    if (look === 'own') return form
    return [
      ...(look.endsWith('form')
        ? checkNewMetadata(next, kind)
        : validateObjectMetaUpdate(next, old)),
      ...(look.startsWith('named') ? validateOwnFinalizers(next) : []),
    ]
  })
  return [...usually, ...further, ...(looks.includes('own') ? [] : form), ...own]
}

function looksAt({ group, isCustom, kind }: Kind, subresource: string): readonly Look[] {
  if (isCustom) return ['update']
  const key = `${group}/${kind}`
  if (subresource === '') return looksOfKinds[key] ?? usual
  return looksOfStatuses[key] ?? usual
}

function same(
  looks: readonly Look[],
  ...kinds: readonly (readonly string[])[]
): Record<string, readonly Look[]> {
  return Object.fromEntries(kinds.flat().map((kind) => [kind, looks]))
}
