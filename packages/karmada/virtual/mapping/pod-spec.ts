import { isJsonObject, type JsonObject } from '@skerry/api'
import { textAt } from '../../interpreter/fields.ts'
import { groupLabel } from '../virtual-group.ts'
import { changeAt, ofObject, ofText } from './change-at.ts'
import { contradictionOf, type NodeLabels } from './contradiction.ts'
import { MappingRefusal } from './mapping-refusal.ts'
import type { MemberNames } from './member-names.ts'

/** Where each kind has pod templates. Each has the pod's `spec`. */
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

/**
 * The pod on the nodes of its virtual cluster, and beside that cluster's pods only. A node selector
 * holds together with whatever affinity there is. Throws MappingRefusal of a pod that is bound for
 * another place.
 */
export function mapPodSpec(
  spec: JsonObject,
  names: MemberNames,
  nodeLabels: NodeLabels = {},
): JsonObject {
  const own = placed(spec, names, nodeLabels)
  return referenceRules.reduce((mapped, rule) => rule(mapped, names), own)
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
  if (!isJsonObject(selector)) throw new MappingRefusal('its node selector is no map of labels')
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

type PodRule = (spec: JsonObject, names: MemberNames) => JsonObject

const affinityTerms = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
  `affinity.${kind}.requiredDuringSchedulingIgnoredDuringExecution.*`,
  `affinity.${kind}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm`,
])

const referenceRules: readonly PodRule[] = [
  ...affinityTerms.map(
    (path): PodRule =>
      (spec, names) =>
        changeAt(
          spec,
          path,
          ofObject((term) => mapAffinityTerm(term, names)),
        ),
  ),
  (spec, names) => changeAt(spec, 'dnsConfig.searches.*', ofText(names.hostName)),
  (spec, names) =>
    changeAt(
      spec,
      'volumes.*.ephemeral.volumeClaimTemplate.spec',
      ofObject((claim) => mapClaimSpec(claim, names)),
    ),
]

function mapAffinityTerm(term: JsonObject, names: MemberNames): JsonObject {
  const named = changeAt(term, 'namespaces.*', ofText(names.namespace))
  return changeAt(named, 'namespaceSelector', ofObject(names.namespaceSelector))
}

/** A claim names its volume, and where what it is filled from stands. */
export function mapClaimSpec(claim: JsonObject, names: MemberNames): JsonObject {
  const named = changeAt(claim, 'volumeName', ofText(names.ownName))
  return changeAt(named, 'dataSourceRef.namespace', ofText(names.namespace))
}
