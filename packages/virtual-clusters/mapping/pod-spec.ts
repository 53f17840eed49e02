import { isJsonObject, type JsonObject } from '@skerry/api'
import { MappingRefusal } from '@skerry/cluster-agent'
import { textAt, groupLabel } from '@skerry/fleet-kinds'
import { contradictionOf, type NodeLabels } from './contradiction.ts'
import { mapReferences } from './map-references.ts'
import type { MemberNames } from './member-names.ts'
import { podReferences } from './reference-table.ts'

/** Where each kind has pod templates. Each template has the pod's `spec`. */
export const podTemplatePaths: Readonly<Record<string, readonly string[]>> = Object.freeze({
  '/Pod': [''],
  '/PodTemplate': ['template'],
  '/ReplicationController': ['spec.template'],
  'apps/DaemonSet': ['spec.template'],
  'apps/Deployment': ['spec.template'],
  'apps/ReplicaSet': ['spec.template'],
  'apps/StatefulSet': ['spec.template'],
  'batch/CronJob': ['spec.jobTemplate.spec.template'],
  'batch/Job': ['spec.template'],
})

const gridTemplates = ['spec.template.template', 'spec.templatePool.*.template']
const poolTemplate = 'spec.workload.workloadTemplate'

/** The same of applications in many places, whose children are workloads. */
export const applicationTemplatePaths: Readonly<Record<string, readonly string[]>> = Object.freeze({
  'superedge.io/DeploymentGrid': gridTemplates,
  'superedge.io/StatefulSetGrid': gridTemplates,
  'apps.openyurt.io/YurtAppSet': [
    `${poolTemplate}.deploymentTemplate.spec.template`,
    `${poolTemplate}.statefulSetTemplate.spec.template`,
  ],
})

/**
 * Places the pod on the nodes of its virtual cluster, and next to that cluster's pods only. A node selector
 * applies in addition to any affinity. Throws MappingRefusal for a pod that asks for another place.
 */
export function mapPodSpec(
  spec: JsonObject,
  names: MemberNames,
  nodeLabels: NodeLabels = {},
): JsonObject {
  return mapReferences(placed(spec, names, nodeLabels), podReferences, names)
}

function placed(
  spec: JsonObject,
  { clusterName }: MemberNames,
  nodeLabels: NodeLabels,
): JsonObject {
  const node = textAt(spec, 'nodeName')
  if (node !== '') {
    throw new MappingRefusal(
      `it names node "${node}", which no scheduler would check: let it be placed, or select the node by its labels`,
    )
  }
  const selector = spec['nodeSelector'] ?? {}
  if (!isJsonObject(selector)) throw new MappingRefusal('its node selector is not a map of labels')
  const wanted = selector[groupLabel] ?? clusterName
  if (wanted !== clusterName) {
    throw new MappingRefusal(
      `it selects nodes of virtual cluster ${JSON.stringify(wanted)} and is sent to "${clusterName}": take ${groupLabel} out of its node selector`,
    )
  }
  const labels = { ...nodeLabels, [groupLabel]: clusterName }
  const contradiction = contradictionOf(spec, labels)
  if (contradiction !== undefined) {
    throw new MappingRefusal(
      `it ${contradiction}, and those of virtual cluster "${clusterName}" have ${labelText(labels)}: take it out, or override it for this cluster`,
    )
  }
  return { ...spec, nodeSelector: { ...selector, [groupLabel]: clusterName } }
}

function labelText(labels: NodeLabels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')
}
