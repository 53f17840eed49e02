import type { DefinedKind } from '../definitions/definition.ts'
import {
  age,
  count,
  fields,
  flag,
  groupPolicy,
  groupStatus,
  labelMap,
  listOf,
  mapOf,
  open,
  selectorFields,
  taint,
  text,
  textMap,
  texts,
} from '../definitions/schemas.ts'
import { deploymentGrids, serviceGrids, statefulSetGrids } from './grid.ts'
import { nodeGroups, nodeUnits } from './unit.ts'

/** Annotations have no effect in SuperEdge either. */
const labelSelector = fields({ ...selectorFields, annotations: textMap })

/**
 * SuperEdge 0.9.0's kinds of ServiceGroup. Its own definitions have no status subresource, and prune the labels of
 * templates in the pool, so that neither works; here both do.
 */
function grid(resource: DefinedKind['resource'], shortName: string): DefinedKind {
  return {
    resource,
    shortNames: [shortName],
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
  resource: serviceGrids,
  shortNames: ['sg'],
  spec: fields({ gridUniqKey: text, template: open, groupPolicy }),
  status: fields({ ...groupStatus, conditions: listOf(open), loadBalancer: open }),
  columns: [['KEY', 'string', '.spec.gridUniqKey'], age],
}

const setNode = fields({ labels: labelMap, annotations: textMap, taints: listOf(taint) })

/** Fields have lower-case names in v1alpha1. */
const nodeUnit: DefinedKind = {
  resource: nodeUnits,
  olderVersions: ['v1alpha1'],
  shortNames: ['nu'],
  spec: fields({
    type: { type: 'string', default: 'edge' },
    unschedulable: { type: 'boolean', default: false },
    autonomyLevel: { type: 'string', default: 'L3' },
    nodes: texts,
    selector: labelSelector,
    setNode,
    setnode: setNode,
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
  resource: nodeGroups,
  olderVersions: ['v1alpha1'],
  shortNames: ['ng'],
  spec: fields({
    nodeUnits: texts,
    selector: labelSelector,
    autoFindNodeKeys: texts,
    nodeunits: texts,
    autofindnodekeys: texts,
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
  grid(deploymentGrids, 'dg'),
  grid(statefulSetGrids, 'ssg'),
  serviceGrid,
  nodeUnit,
  nodeGroup,
])
