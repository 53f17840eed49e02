import {
  humanDuration,
  type APIService,
  type CertificateSigningRequest,
  type ClusterTrustBundle,
  type Column,
  type FlowSchema,
  type Lease,
  type LeaseCandidate,
  type MutatingAdmissionPolicy,
  type MutatingAdmissionPolicyBinding,
  type MutatingWebhookConfiguration,
  type ParamKind,
  type ParamRef,
  type PodCertificateRequest,
  type PriorityClass,
  type PriorityLevelConfiguration,
  type RbacV1Subject,
  type ResourceClaim,
  type ResourceSlice,
  type RoleBinding,
  type RuntimeClass,
  type Scale,
  type StorageVersionMigration,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  type ValidatingWebhookConfiguration,
} from '@skerry/api'
import { ageCell, columnsOf, integer, labelsText, nameCell, orText, wide } from './column.ts'

const roleBinding = columnsOf<RoleBinding>([
  nameCell,
  { name: 'Role', cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}` },
  ageCell,
  wide('Users', ({ subjects }) => subjectsText(subjects, 'User')),
  wide('Groups', ({ subjects }) => subjectsText(subjects, 'Group')),
  wide('ServiceAccounts', ({ subjects }) => subjectsText(subjects, 'ServiceAccount')),
])

const certificateSigningRequest = columnsOf<CertificateSigningRequest>([
  nameCell,
  ageCell,
  { name: 'SignerName', cell: ({ spec }) => orText(spec.signerName, '<none>') },
  { name: 'Requestor', cell: ({ spec }) => spec.username ?? '' },
  {
    name: 'RequestedDuration',
    cell: ({ spec }) =>
      spec.expirationSeconds === undefined
        ? '<none>'
        : humanDuration(spec.expirationSeconds * 1000),
  },
  { name: 'Condition', cell: csrConditionText },
])

const podCertificateRequest = columnsOf<PodCertificateRequest>([
  nameCell,
  { name: 'PodName', cell: ({ spec }) => spec.podName },
  { name: 'ServiceAccountName', cell: ({ spec }) => spec.serviceAccountName },
  { name: 'NodeName', cell: ({ spec }) => spec.nodeName },
  { name: 'SignerName', cell: ({ spec }) => spec.signerName },
  {
    name: 'State',
    cell: ({ status }) => {
      const types = (status?.conditions ?? []).map(({ type }) => type)
      return types.findLast((type) => ['Issued', 'Denied', 'Failed'].includes(type)) ?? 'Pending'
    },
  },
  {
    name: 'UnverifiedUserAnnotations',
    cell: ({ spec }) => labelsText(spec.unverifiedUserAnnotations),
  },
])

const flowSchema = columnsOf<FlowSchema>([
  nameCell,
  { name: 'PriorityLevel', cell: ({ spec }) => spec?.priorityLevelConfiguration.name ?? '' },
  { name: 'MatchingPrecedence', cell: ({ spec }) => spec?.matchingPrecedence ?? 0 },
  { name: 'DistinguisherMethod', cell: ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>' },
  ageCell,
  {
    name: 'MissingPL',
    cell: ({ status }) =>
      status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  },
])

const priorityLevelConfiguration = columnsOf<PriorityLevelConfiguration>([
  nameCell,
  { name: 'Type', cell: ({ spec }) => spec?.type ?? '' },
  {
    name: 'NominalConcurrencyShares',
    cell: ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? '<none>',
  },
  { name: 'Queues', cell: (level) => queuingOf(level)?.queues ?? '<none>' },
  { name: 'HandSize', cell: (level) => queuingOf(level)?.handSize ?? '<none>' },
  { name: 'QueueLengthLimit', cell: (level) => queuingOf(level)?.queueLengthLimit ?? '<none>' },
  ageCell,
])

const apiService = columnsOf<APIService>([
  nameCell,
  {
    name: 'Service',
    cell: ({ spec }) =>
      spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local',
  },
  { name: 'Available', cell: availableText },
  ageCell,
])

export const policyColumns: Readonly<Record<string, readonly Column[]>> = Object.freeze({
  'rbac.authorization.k8s.io/RoleBinding': roleBinding,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBinding,
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequest,
  'certificates.k8s.io/ClusterTrustBundle': columnsOf<ClusterTrustBundle>([
    nameCell,
    { name: 'SignerName', cell: ({ spec }) => orText(spec.signerName, '<none>') },
  ]),
  'certificates.k8s.io/PodCertificateRequest': podCertificateRequest,
  'coordination.k8s.io/Lease': columnsOf<Lease>([
    nameCell,
    { name: 'Holder', cell: ({ spec }) => spec?.holderIdentity ?? '' },
    ageCell,
  ]),
  'coordination.k8s.io/LeaseCandidate': columnsOf<LeaseCandidate>([
    nameCell,
    { name: 'LeaseName', cell: ({ spec }) => spec?.leaseName ?? '' },
    { name: 'BinaryVersion', cell: ({ spec }) => spec?.binaryVersion ?? '' },
    { name: 'EmulationVersion', cell: ({ spec }) => spec?.emulationVersion ?? '' },
    ageCell,
  ]),
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchema,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelConfiguration,
  'apiregistration.k8s.io/APIService': apiService,
  'scheduling.k8s.io/PriorityClass': columnsOf<PriorityClass>([
    nameCell,
    integer('Value', ({ value }) => value),
    { name: 'Global-Default', type: 'boolean', cell: (object) => object.globalDefault ?? false },
    ageCell,
    { name: 'PreemptionPolicy', cell: (object) => object.preemptionPolicy ?? '' },
  ]),
  'node.k8s.io/RuntimeClass': columnsOf<RuntimeClass>([
    nameCell,
    { name: 'Handler', cell: ({ handler }) => handler },
    ageCell,
  ]),
  'autoscaling/Scale': columnsOf<Scale>([
    { name: 'Name', cell: ({ metadata }) => metadata?.name ?? '' },
    integer('Desired', ({ spec }) => spec?.replicas),
    integer('Available', ({ status }) => status?.replicas),
    ageCell,
  ]),
  'admissionregistration.k8s.io/MutatingWebhookConfiguration':
    columnsOf<MutatingWebhookConfiguration>([
      nameCell,
      integer('Webhooks', ({ webhooks }) => webhooks?.length),
      ageCell,
    ]),
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration':
    columnsOf<ValidatingWebhookConfiguration>([
      nameCell,
      integer('Webhooks', ({ webhooks }) => webhooks?.length),
      ageCell,
    ]),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': columnsOf<ValidatingAdmissionPolicy>([
    nameCell,
    integer('Validations', ({ spec }) => spec?.validations?.length),
    { name: 'ParamKind', cell: ({ spec }) => paramKindText(spec?.paramKind) },
    ageCell,
  ]),
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': columnsOf<MutatingAdmissionPolicy>([
    nameCell,
    integer('Mutations', ({ spec }) => spec?.mutations?.length),
    { name: 'ParamKind', cell: ({ spec }) => paramKindText(spec?.paramKind) },
    ageCell,
  ]),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding':
    columnsOf<ValidatingAdmissionPolicyBinding>([
      nameCell,
      { name: 'PolicyName', cell: ({ spec }) => spec?.policyName ?? '' },
      { name: 'ParamRef', cell: ({ spec }) => paramRefText(spec?.paramRef) },
      ageCell,
    ]),
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding':
    columnsOf<MutatingAdmissionPolicyBinding>([
      nameCell,
      { name: 'PolicyName', cell: ({ spec }) => spec?.policyName ?? '' },
      { name: 'ParamRef', cell: ({ spec }) => paramRefText(spec?.paramRef) },
      ageCell,
    ]),
  'resource.k8s.io/DeviceClass': columnsOf([nameCell, ageCell]),
  'resource.k8s.io/ResourceClaimTemplate': columnsOf([nameCell, ageCell]),
  'resource.k8s.io/ResourceClaim': columnsOf<ResourceClaim>([
    nameCell,
    { name: 'State', cell: claimStateText },
    ageCell,
  ]),
  'resource.k8s.io/ResourceSlice': columnsOf<ResourceSlice>([
    nameCell,
    { name: 'Node', cell: ({ spec }) => spec.nodeName ?? '' },
    { name: 'Driver', cell: ({ spec }) => spec.driver },
    { name: 'Pool', cell: ({ spec }) => spec.pool.name },
    ageCell,
  ]),
  'storagemigration.k8s.io/StorageVersionMigration': columnsOf<StorageVersionMigration>([
    { name: 'Name', cell: ({ metadata }) => metadata.name ?? '' },
    { name: 'Resource', cell: ({ spec }) => migratedResourceText(spec?.resource) },
    {
      name: 'Status',
      cell: ({ status }) => {
        const met = (status?.conditions ?? []).filter((one) => one.status === 'True')
        const words = ['Running', 'Failed', 'Succeeded']
        return met.findLast(({ type }) => words.includes(type))?.type ?? 'Unknown'
      },
    },
  ]),
})

function subjectsText(subjects: readonly RbacV1Subject[] | undefined, kind: string): string {
  return (subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
    .join(', ')
}

function csrConditionText({ status }: CertificateSigningRequest): string {
  const has = (type: string) => status?.conditions?.some((one) => one.type === type) ?? false
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  const parts = [decision]
  if (has('Failed')) parts.push('Failed')
  if (status?.certificate) parts.push('Issued')
  return parts.join(',')
}

function queuingOf({ spec }: PriorityLevelConfiguration) {
  return spec?.limited?.limitResponse?.queuing
}

function availableText({ status }: APIService): string {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  if (!available) return 'Unknown'
  return available.status === 'True' ? 'True' : `${available.status} (${available.reason ?? ''})`
}

function paramKindText(paramKind: ParamKind | undefined): string {
  return paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : '<unset>'
}

/** A reference without a namespace may mean any, because the parameter's scope is not known here. */
function paramRefText(paramRef: ParamRef | undefined): string {
  if (paramRef?.name) return `${paramRef.namespace || '*'}/${paramRef.name}`
  return paramRef?.selector ? JSON.stringify(paramRef.selector) : '<unset>'
}

function claimStateText({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (status?.allocation) {
    states.push('allocated')
    if ((status.reservedFor ?? []).length > 0) states.push('reserved')
  } else if (!isDeleted) states.push('pending')
  return states.join(',')
}

function migratedResourceText(resource: { group?: string; resource?: string } | undefined): string {
  const { group = '', resource: name = '' } = resource ?? {}
  return group === '' ? name : `${name}.${group}`
}
