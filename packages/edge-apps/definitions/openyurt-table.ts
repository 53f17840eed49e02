import type { DefinedKind } from './definition.ts'
import { count, fields, flag, listOf, open, taint, text, textMap, texts } from './schemas.ts'

/** OpenYurt's pools of nodes. Everything about its own hubs on nodes is accepted, and has no effect. */
export const openyurtKinds: readonly DefinedKind[] = Object.freeze([
  {
    group: 'apps.openyurt.io',
    version: 'v1beta2',
    kind: 'NodePool',
    plural: 'nodepools',
    shortNames: ['np'],
    scope: 'Cluster',
    spec: fields({
      type: text,
      hostNetwork: flag,
      labels: textMap,
      annotations: textMap,
      taints: listOf(taint),
      interConnectivity: flag,
      enableLeaderElection: flag,
      leaderElectionStrategy: text,
      leaderNodeLabelSelector: textMap,
      leaderReplicas: count,
      poolScopeMetadata: listOf(open),
    }),
    status: fields({ readyNodeNum: count, unreadyNodeNum: count, nodes: texts }),
    columns: [
      ['TYPE', 'string', '.spec.type'],
      ['READYNODES', 'integer', '.status.readyNodeNum'],
      ['NOTREADYNODES', 'integer', '.status.unreadyNodeNum'],
      ['AGE', 'date', '.metadata.creationTimestamp'],
    ],
  } as const,
])
