import type { DefinedKind } from './definition.ts'
import { fields, flag, listOf, text, textMap, texts } from './schemas.ts'

/** KubeEdge's groups of nodes, as of version 1.23. */
export const kubeedgeKinds: readonly DefinedKind[] = Object.freeze([
  {
    group: 'apps.kubeedge.io',
    version: 'v1alpha1',
    kind: 'NodeGroup',
    plural: 'nodegroups',
    shortNames: [],
    scope: 'Cluster',
    spec: fields({ nodes: texts, matchLabels: textMap, topologyEnabled: flag }),
    status: fields({
      nodeStatuses: listOf(
        fields(
          {
            nodeName: text,
            readyStatus: text,
            selectionStatus: text,
            selectionStatusReason: text,
          },
          ['nodeName', 'readyStatus', 'selectionStatus'],
        ),
      ),
    }),
    columns: [['AGE', 'date', '.metadata.creationTimestamp']],
  } as const,
])
