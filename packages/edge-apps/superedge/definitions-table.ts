import type { DefinedKind } from '../definitions/definition.ts'
import {
  count,
  fields,
  flag,
  groupPolicy,
  groupStatus,
  listOf,
  mapOf,
  open,
  selectorFields,
  taint,
  text,
  textMap,
  texts,
} from '../definitions/schemas.ts'

/** Annotations have no effect in SuperEdge either. */
const labelSelector = fields({ ...selectorFields, annotations: textMap })

const age = ['AGE', 'date', '.metadata.creationTimestamp'] as const

/**
 * SuperEdge 0.9.0's kinds of ServiceGroup. Its own definitions have no status subresource, and prune the labels of
 * templates in the pool, so that neither works; here both do.
 */
function grid(kind: string, shortName: string): DefinedKind {
  return {
    group: 'superedge.io',
    version: 'v1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    shortNames: [shortName],
    scope: 'Namespaced',
    spec: fields({
      gridUniqKey: text,
      template: open,
      templatePool: mapOf(open),
      templates: textMap,
      defaultTemplateName: { type: 'string', default: 'default' },
      autoDeleteUnusedTemplate: flag,
      groupPolicy,
    }),
    status: fields({ ...groupStatus, states: mapOf(open) }),
    columns: [['KEY', 'string', '.spec.gridUniqKey'], age],
  }
}

const serviceGrid: DefinedKind = {
  group: 'superedge.io',
  version: 'v1',
  kind: 'ServiceGrid',
  plural: 'servicegrids',
  shortNames: ['sg'],
  scope: 'Namespaced',
  spec: fields({ gridUniqKey: text, template: open, groupPolicy }),
  status: fields({ ...groupStatus, conditions: listOf(open), loadBalancer: open }),
  columns: [['KEY', 'string', '.spec.gridUniqKey'], age],
}

const nodeUnit: DefinedKind = {
  group: 'site.superedge.io',
  version: 'v1alpha2',
  kind: 'NodeUnit',
  plural: 'nodeunits',
  shortNames: ['nu'],
  scope: 'Cluster',
  spec: fields({
    type: { type: 'string', default: 'edge' },
    unschedulable: { type: 'boolean', default: false },
    autonomyLevel: { type: 'string', default: 'L3' },
    nodes: texts,
    selector: labelSelector,
    setNode: fields({ labels: textMap, annotations: textMap, taints: listOf(taint) }),
    unitCredentialConfigMapRef: open,
    unitClusterInfo: open,
  }),
  status: fields({
    readyRate: text,
    readyNodes: texts,
    notReadyNodes: texts,
    unitClusterStatus: open,
    conditions: listOf(open),
  }),
  columns: [
    ['TYPE', 'string', '.spec.type'],
    ['READY', 'string', '.status.readyRate'],
    age,
    ['DELETING', 'date', '.metadata.deletionTimestamp'],
  ],
}

const nodeGroup: DefinedKind = {
  group: 'site.superedge.io',
  version: 'v1alpha2',
  kind: 'NodeGroup',
  plural: 'nodegroups',
  shortNames: ['ng'],
  scope: 'Cluster',
  spec: fields({
    nodeUnits: texts,
    selector: labelSelector,
    autoFindNodeKeys: texts,
    workload: listOf(open),
  }),
  status: fields({
    unitNumber: { ...count },
    nodeUnits: texts,
    conditions: listOf(open),
  }),
  columns: [['UNITS', 'integer', '.status.unitNumber'], age],
}

export const superedgeKinds: readonly DefinedKind[] = Object.freeze([
  grid('DeploymentGrid', 'dg'),
  grid('StatefulSetGrid', 'ssg'),
  serviceGrid,
  nodeUnit,
  nodeGroup,
])
