import {
  ageOf,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  isJsonObject,
  type AnyObject,
  type Column,
  type Kind,
  type StatusCause,
  type Strategy,
  type StrategyContext,
} from '@skerry/api'
import { conditionOf } from '../cluster/conditions.ts'
import { executionNamespace } from '../cluster/cluster.ts'
import { fieldAt, textAt } from '../interpreter/fields.ts'
import { executionFinalizer, karmadaKeys } from './karmada-keys.ts'
import { carriedManifest } from './manifest-metadata.ts'
import { manifestsOf, workConditions, workResource, type Work } from './work.ts'
import { workSchemaName, workSchemas } from './work-schema-table.ts'

/** Work as a kind that an API server serves; it needs the built-in ones, whose definitions it refers to. */
export function workKind(builtin: readonly Kind[]): Kind {
  const { group, version, resource } = workResource
  const kind = { group, version, kind: 'Work' }
  return {
    ...kind,
    resource,
    singular: 'work',
    listKind: 'WorkList',
    isNamespaced: true,
    shortNames: ['wk'],
    categories: ['karmada-io'],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [
      { name: 'status', kind, schemaName: workSchemaName, verbs: ['get', 'patch', 'update'] },
    ],
    schemaName: workSchemaName,
    schemas: { ...builtin[0]?.schemas, ...workSchemas },
    storageVersion: version,
    selectableFields: [],
    columns,
    strategy,
  }
}

/** The registry hands a strategy and columns only objects that were decoded as their kind. */
function workOf(object: AnyObject): Work {
  return object as unknown as Work
}

const columns: readonly Column[] = [
  column('Name', ({ metadata }) => metadata.name ?? ''),
  column('WORKLOAD-KIND', (work) => manifestsOf(work)[0]?.kind ?? null),
  column('APPLIED', ({ status }) => {
    return conditionOf(status?.conditions, workConditions.applied)?.status ?? null
  }),
  column('AGE', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
]

function column(name: string, cell: (work: Work, nowMs: number) => string | null): Column {
  return {
    name,
    type: 'string',
    format: name === 'Name' ? 'name' : '',
    description: '',
    priority: 0,
    cell: (object, nowMs) => cell(workOf(object), nowMs),
  }
}

const strategy: Strategy = {
  nameRule: 'dns-subdomain',
  prepareForCreate(next, context) {
    next['status'] = {}
    // Else its objects would stay behind when it is deleted.
    const finalizers = new Set([...(next.metadata.finalizers ?? []), executionFinalizer])
    if (isExecuted(next)) next.metadata.finalizers = [...finalizers]
    carryManifests(next, context)
  },
  prepareForUpdate(next, old, context) {
    next['status'] = old['status']
    carryManifests(next, context)
  },
  prepareForStatusUpdate(next, old) {
    next['spec'] = old['spec']
  },
  validate: (object) => validateManifests(object),
  validateUpdate: (next) => validateManifests(next),
  validateStatusUpdate: (next) => validateStatus(workOf(next)),
}

/** A Work in another namespace is nobody's to apply. */
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

/** What is none is told by the validation that follows. */
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
          'a manifest says what it is and what it is called',
        ),
      ),
  )
}

const healths = ['Healthy', 'Unhealthy', 'Unknown']
const conditionStatuses = ['True', 'False', 'Unknown']

function validateStatus({ status }: Work): StatusCause[] {
  const conditions = (status?.conditions ?? []).flatMap(({ status: value, reason }, index) => {
    const field = `status.conditions[${index}]`
    return [
      ...(conditionStatuses.includes(value)
        ? []
        : [fieldNotSupported(`${field}.status`, value, conditionStatuses)]),
      ...(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)
        ? []
        : [fieldInvalid(`${field}.reason`, reason, 'must be a CamelCase word')]),
    ]
  })
  const statuses = (status?.manifestStatuses ?? []).flatMap(({ health }, index) =>
    health === undefined || healths.includes(health)
      ? []
      : [fieldNotSupported(`status.manifestStatuses[${index}].health`, health, healths)],
  )
  return [...conditions, ...statuses]
}
