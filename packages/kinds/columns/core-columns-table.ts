import {
  canonicalQuantity,
  type Column,
  type ComponentStatus,
  type ConfigMap,
  type Endpoints,
  type Event,
  type EventsV1Event,
  type Namespace,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodTemplate,
  type ReplicationController,
  type ResourceQuota,
  type Secret,
  type Service,
} from '@skerry/api'
import {
  ageCell,
  columnsOf,
  containerCells,
  firstFew,
  integer,
  isTerminating,
  joined,
  labelsText,
  nameCell,
  orText,
  wide,
} from './column.ts'
import { endpointTexts, servicePortsText, serviceExternalIpText } from './endpoint-cells.ts'
import { eventCells, eventOfEventsV1 } from './event-cells.ts'
import { nodeAddress, nodeKernelText, nodeRolesText, nodeStatusText } from './node-cells.ts'
import { readinessGatesText, restartsText, summarizePod } from './pod-cells.ts'

const pod = columnsOf<Pod>([
  nameCell,
  {
    name: 'Ready',
    cell: (object) => {
      const { readyContainers, totalContainers } = summarizePod(object)
      return `${readyContainers}/${totalContainers}`
    },
  },
  { name: 'Status', cell: (object) => summarizePod(object).status },
  { name: 'Restarts', cell: restartsText },
  ageCell,
  wide('IP', ({ status }) => orText(status?.podIPs?.[0]?.ip ?? status?.podIP, '<none>')),
  wide('Node', ({ spec }) => orText(spec?.nodeName, '<none>')),
  wide('Nominated Node', ({ status }) => orText(status?.nominatedNodeName, '<none>')),
  wide('Readiness Gates', readinessGatesText),
])

const podTemplate = columnsOf<PodTemplate>([
  nameCell,
  ...containerCells<PodTemplate>(({ template }) => template?.spec?.containers).map((cell) => ({
    ...cell,
    priority: 0,
  })),
  { name: 'Pod Labels', cell: ({ template }) => labelsText(template?.metadata?.labels) },
])

const replicationController = columnsOf<ReplicationController>([
  nameCell,
  integer('Desired', ({ spec }) => spec?.replicas),
  integer('Current', ({ status }) => status?.replicas),
  integer('Ready', ({ status }) => status?.readyReplicas),
  ageCell,
  ...containerCells<ReplicationController>(({ spec }) => spec?.template?.spec?.containers),
  wide('Selector', ({ spec }) => labelsText(spec?.selector)),
])

const service = columnsOf<Service>([
  nameCell,
  { name: 'Type', cell: ({ spec }) => spec?.type ?? '' },
  {
    name: 'Cluster-IP',
    cell: ({ spec }) => spec?.clusterIPs?.[0] ?? (spec?.clusterIP || '<none>'),
  },
  { name: 'External-IP', cell: serviceExternalIpText },
  { name: 'Port(s)', cell: ({ spec }) => orText(servicePortsText(spec?.ports), '<none>') },
  ageCell,
  wide('Selector', ({ spec }) => labelsText(spec?.selector)),
])

const node = columnsOf<Node>([
  nameCell,
  { name: 'Status', cell: nodeStatusText },
  { name: 'Roles', cell: nodeRolesText },
  ageCell,
  { name: 'Version', cell: ({ status }) => status?.nodeInfo?.kubeletVersion ?? '' },
  wide('Internal-IP', (object) => nodeAddress(object, 'InternalIP')),
  wide('External-IP', (object) => nodeAddress(object, 'ExternalIP')),
  wide('OS-Image', ({ status }) => orText(status?.nodeInfo?.osImage, '<unknown>')),
  wide('Kernel-Version', nodeKernelText),
  wide('Container-Runtime', ({ status }) =>
    orText(status?.nodeInfo?.containerRuntimeVersion, '<unknown>'),
  ),
])

const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

const persistentVolume = columnsOf<PersistentVolume>([
  nameCell,
  { name: 'Capacity', cell: ({ spec }) => canonicalQuantity(spec?.capacity?.['storage'] ?? '0') },
  { name: 'Access Modes', cell: ({ spec }) => accessModesText(spec?.accessModes) },
  { name: 'Reclaim Policy', cell: ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '' },
  {
    name: 'Status',
    cell: (object) => (isTerminating(object) ? 'Terminating' : (object.status?.phase ?? '')),
  },
  {
    name: 'Claim',
    cell: ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
  },
  {
    name: 'StorageClass',
    cell: ({ metadata, spec }) =>
      metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '',
  },
  {
    name: 'VolumeAttributesClass',
    cell: ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
  },
  { name: 'Reason', cell: ({ status }) => status?.reason ?? '' },
  ageCell,
  wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>'),
])

const persistentVolumeClaim = columnsOf<PersistentVolumeClaim>([
  nameCell,
  {
    name: 'Status',
    cell: (object) => (isTerminating(object) ? 'Terminating' : (object.status?.phase ?? '')),
  },
  { name: 'Volume', cell: ({ spec }) => spec?.volumeName ?? '' },
  {
    name: 'Capacity',
    cell: ({ spec, status }) =>
      spec?.volumeName ? canonicalQuantity(status?.capacity?.['storage'] ?? '0') : '',
  },
  {
    name: 'Access Modes',
    cell: ({ spec, status }) => (spec?.volumeName ? accessModesText(status?.accessModes) : ''),
  },
  {
    name: 'StorageClass',
    cell: ({ metadata, spec }) =>
      metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '',
  },
  {
    name: 'VolumeAttributesClass',
    cell: ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
  },
  ageCell,
  wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>'),
])

const resourceQuota = columnsOf<ResourceQuota>([
  nameCell,
  { name: 'Request', cell: (quota) => quotaText(quota, (name) => !name.startsWith('limits.')) },
  { name: 'Limit', cell: (quota) => quotaText(quota, (name) => name.startsWith('limits.')) },
  ageCell,
])

const componentStatus = columnsOf<ComponentStatus>([
  nameCell,
  {
    name: 'Status',
    cell: (object) => {
      const healthy = healthyCondition(object)
      if (!healthy) return 'Unknown'
      return healthy.status === 'True' ? 'Healthy' : 'Unhealthy'
    },
  },
  { name: 'Message', cell: (object) => healthyCondition(object)?.message ?? '' },
  { name: 'Error', cell: (object) => healthyCondition(object)?.error ?? '' },
])

export const coreColumns: Readonly<Record<string, readonly Column[]>> = Object.freeze({
  '/Pod': pod,
  '/PodTemplate': podTemplate,
  '/ReplicationController': replicationController,
  '/Service': service,
  '/Node': node,
  '/PersistentVolume': persistentVolume,
  '/PersistentVolumeClaim': persistentVolumeClaim,
  '/ResourceQuota': resourceQuota,
  '/ComponentStatus': componentStatus,
  '/Endpoints': columnsOf<Endpoints>([
    nameCell,
    {
      name: 'Endpoints',
      cell: ({ subsets }) => orText(firstFew(endpointTexts(subsets), 3), '<none>'),
    },
    ageCell,
  ]),
  '/Event': columnsOf<Event>(eventCells),
  'events.k8s.io/Event': columnsOf<EventsV1Event>(
    eventCells.map((column) => ({
      ...column,
      cell: (event, nowMs) => column.cell(eventOfEventsV1(event), nowMs),
    })),
  ),
  '/Namespace': columnsOf<Namespace>([
    nameCell,
    { name: 'Status', cell: ({ status }) => status?.phase ?? '' },
    ageCell,
  ]),
  '/Secret': columnsOf<Secret>([
    nameCell,
    { name: 'Type', cell: ({ type }) => type ?? '' },
    { name: 'Data', cell: ({ data }) => Object.keys(data ?? {}).length },
    ageCell,
  ]),
  '/ConfigMap': columnsOf<ConfigMap>([
    nameCell,
    {
      name: 'Data',
      cell: ({ data, binaryData }) =>
        Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    },
    ageCell,
  ]),
  '/ServiceAccount': columnsOf([nameCell, ageCell]),
})

const shortAccessMode: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

function accessModesText(modes: readonly string[] | undefined): string {
  return joined(shortAccessMode.filter(([mode]) => modes?.includes(mode)).map(([, short]) => short))
}

function quotaText({ status }: ResourceQuota, isWanted: (name: string) => boolean): string {
  const hard = Object.entries(status?.hard ?? {}).filter(([name]) => isWanted(name))
  const sorted = hard.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted
    .map(([name, limit]) => {
      const used = canonicalQuantity(status?.used?.[name] ?? '0')
      return `${name}: ${used}/${canonicalQuantity(limit)}`
    })
    .join(', ')
}

function healthyCondition({ conditions }: ComponentStatus) {
  return conditions?.find(({ type }) => type === 'Healthy')
}
