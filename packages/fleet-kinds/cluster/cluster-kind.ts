import {
  ageOf,
  checkDnsLabel,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type AnyObject,
  type Column,
  type Kind,
  type StatusCause,
  type Strategy,
} from '@skerry/api'
import { hubKind } from '../access/hub-kind.ts'
import { clusterSchemaName, clusterSchemas } from './cluster-schema-table.ts'
import { clusterResource, conditionTypes, type Cluster, type ResourceModel } from './cluster.ts'
import { apiTime } from './conditions.ts'
import { defaultResourceModels } from './resource-models.ts'
import { fleetKindsBounds } from '../limits-table.ts'

const { nameCharsMax } = fleetKindsBounds.clusterKind

/** Returns Cluster as a kind for an API server. Its schemas refer to definitions of the built-in kinds. */
export function clusterKind(builtin: readonly Kind[]): Kind {
  const { group, version, resource } = clusterResource
  const kind = { group, version, kind: 'Cluster' }
  const proxy = { group, version, kind: 'ClusterProxyOptions' }
  return hubKind(
    {
      group,
      kind: 'Cluster',
      resource,
      singular: 'cluster',
      categories: ['karmada-io'],
      subresources: [
        { name: 'status', kind, schemaName: clusterSchemaName, verbs: ['get', 'patch', 'update'] },
        {
          name: 'proxy',
          kind: proxy,
          verbs: ['create', 'delete', 'get', 'patch', 'update'],
        },
      ],
      schemaName: clusterSchemaName,
      schemas: clusterSchemas,
      columns,
      strategy,
    },
    builtin,
  )
}

/** The registry hands a strategy and columns only objects that were decoded as their kind. */
function clusterOf(object: AnyObject): Cluster {
  return object as unknown as Cluster
}

const columns: readonly Column[] = [
  column('Name', ({ metadata }) => metadata.name ?? ''),
  column('Version', ({ status }) => status?.kubernetesVersion ?? ''),
  column('Mode', ({ spec }) => spec.syncMode),
  column('Ready', (cluster) => readyStatus(cluster)),
  column('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
  column('Zones', ({ spec }) => (spec.zones ?? []).join(','), 1),
  column('Region', ({ spec }) => spec.region ?? '', 1),
  column('Provider', ({ spec }) => spec.provider ?? '', 1),
  column('APIEndpoint', ({ spec }) => spec.apiEndpoint ?? '', 1),
  column('ProxyURL', ({ spec }) => spec.proxyURL ?? '', 1),
]

function column(
  name: string,
  cell: (cluster: Cluster, nowMs: number) => string,
  priority = 0,
): Column {
  return {
    name,
    type: 'string',
    format: name === 'Name' ? 'name' : '',
    description: '',
    priority,
    cell: (object, nowMs) => cell(clusterOf(object), nowMs),
  }
}

function readyStatus({ status }: Cluster): string {
  return status?.conditions?.find(({ type }) => type === conditionTypes.ready)?.status ?? 'Unknown'
}

const strategy: Strategy = {
  nameRule: 'dns-label',
  prepareForCreate(next, { nowMs }) {
    next['status'] = {}
    setModels(clusterOf(next))
    setTaintTimes(clusterOf(next), nowMs)
    moveZone(clusterOf(next))
  },
  prepareForUpdate(next, old, { nowMs }) {
    next['status'] = old['status']
    setModels(clusterOf(next))
    setTaintTimes(clusterOf(next), nowMs)
    moveZone(clusterOf(next))
  },
  prepareForStatusUpdate(next, old) {
    next['spec'] = old['spec']
  },
  validate: (object) => validateCluster(clusterOf(object)),
  validateUpdate(next, old) {
    const { id } = clusterOf(old).spec
    const causes = validateCluster(clusterOf(next))
    if (id && clusterOf(next).spec.id !== id) {
      causes.push(fieldInvalid('spec.id', clusterOf(next).spec.id ?? '', 'field is immutable'))
    }
    return causes
  },
}

/**
 * Sets the default models, as Karmada's webhook does: schedulers count nodes by grades of their free
 * resources.
 */
function setModels({ spec }: Cluster): void {
  if (spec.resourceModels?.length) return
  spec.resourceModels = structuredClone(defaultResourceModels) as ResourceModel[]
}

/** A toleration that ends counts from here. */
function setTaintTimes({ spec }: Cluster, nowMs: number): void {
  for (const taint of spec.taints ?? []) {
    if (taint.effect === 'NoExecute') taint.timeAdded ??= apiTime(nowMs)
  }
}

/** The field of before there were several. */
function moveZone({ spec }: Cluster): void {
  if (!spec.zone || (spec.zones ?? []).length > 0) return
  spec.zones = [spec.zone]
  delete spec.zone
}

function validateCluster({ metadata, spec }: Cluster): StatusCause[] {
  const { name = '' } = metadata
  const causes = checkDnsLabel(name).map((why) => fieldInvalid('metadata.name', name, why))
  if (name.length > nameCharsMax) {
    const why = `must be no more than ${nameCharsMax} characters`
    causes.push(fieldInvalid('metadata.name', name, why))
  }
  if (!spec.syncMode) causes.push(fieldRequired('spec.syncMode'))
  else if (!['Pull', 'Push'].includes(spec.syncMode)) {
    causes.push(fieldNotSupported('spec.syncMode', spec.syncMode, ['Pull', 'Push']))
  }
  return [
    ...causes,
    ...urlCauses('spec.apiEndpoint', spec.apiEndpoint),
    ...urlCauses('spec.proxyURL', spec.proxyURL),
  ]
}

function urlCauses(field: string, value: string | undefined): StatusCause[] {
  if (!value || URL.canParse(value)) return []
  return [fieldInvalid(field, value, 'must be a URL')]
}
