import {
  validateMetaForm,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateOwnFinalizers,
  type Kind,
  type ObjectMeta,
  type StatusCause,
} from '@skerry/api'

/**
 * How often, and in what order, upstream looks at the metadata of an update, beside what it does for
 * every kind. Each look says again what is wrong: `update` compares with the old metadata, `form`
 * looks at the new alone, names included, and those that are `named` want finalizers to tell whose they are.
 */
type Look = 'update' | 'form' | 'named update' | 'named form'

const usual: readonly Look[] = ['named update']

/** Keyed `group/Kind`; those of a status stand below. */
const looksOfKinds: Readonly<Record<string, readonly Look[]>> = Object.freeze({
  ...same(
    ['named update', 'named form'],
    ['/ConfigMap', '/Endpoints', '/PersistentVolumeClaim', '/Pod', '/Secret', '/ServiceAccount'],
    ['apps/ControllerRevision', 'networking.k8s.io/Ingress', 'networking.k8s.io/IngressClass'],
    ['storage.k8s.io/VolumeAttributesClass'],
  ),
  ...same(
    ['named form', 'named update'],
    ['/Namespace', '/Node', 'batch/Job', 'networking.k8s.io/IPAddress'],
    ['certificates.k8s.io/CertificateSigningRequest'],
    ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map(
      (kind) => `rbac.authorization.k8s.io/${kind}`,
    ),
    ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate'].map(
      (kind) => `resource.k8s.io/${kind}`,
    ),
    ['storage.k8s.io/CSIStorageCapacity', 'storage.k8s.io/StorageClass'],
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
  ...same([], ['/Event', 'policy/PodDisruptionBudget']),
})

const looksOfStatuses: Readonly<Record<string, readonly Look[]>> = Object.freeze({
  ...same(['named form', 'named update'], ['certificates.k8s.io/CertificateSigningRequest']),
  ...same(['update'], ['apiextensions.k8s.io/CustomResourceDefinition']),
  ...same([], ['batch/CronJob', 'policy/PodDisruptionBudget']),
})

/** What is wrong with the metadata of an update, as often as upstream finds it. */
export function checkUpdatedMetadata(
  next: ObjectMeta,
  old: ObjectMeta,
  { kind, subresource }: { kind: Kind; subresource: string },
): StatusCause[] {
  const rule = kind.strategy.nameRule ?? 'dns-subdomain'
  const usually = [...validateMetaForm(next), ...validateObjectMetaUpdate(next, old)]
  const further = looksAt(kind, subresource).flatMap((look) => [
    ...(look.endsWith('form')
      ? validateObjectMeta(next, rule, kind.isNamespaced)
      : validateObjectMetaUpdate(next, old)),
    ...(look.startsWith('named') ? validateOwnFinalizers(next) : []),
  ])
  return [...usually, ...further]
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
