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
  oneOf,
  open,
  selectorFields,
  taint,
  text,
  textMap,
  texts,
} from '../definitions/schemas.ts'
import { nodePools } from './node-pool.ts'
import { yurtAppSets } from './yurt-app-set.ts'

const chosenPools = { nodepoolSelector: fields(selectorFields), pools: texts } as const
const workload = fields({ metadata: open, spec: open }, ['spec'])
const any = Object.freeze({ 'x-kubernetes-preserve-unknown-fields': true })

/** The fields of v1alpha1. Others of a pool are accepted, and have no effect in OpenYurt either. */
const older = {
  selector: open,
  workloadTemplate: fields({ deploymentTemplate: workload, statefulSetTemplate: workload }),
  topology: fields({
    pools: listOf(
      fields(
        {
          name: text,
          nodeSelectorTerm: open,
          tolerations: listOf(open),
          replicas: count,
          patch: any,
        },
        ['name'],
      ),
    ),
  }),
} as const

const yurtAppSet: DefinedKind = {
  resource: yurtAppSets,
  olderVersions: ['v1alpha1'],
  shortNames: ['yas'],
  spec: {
    ...fields({
      ...chosenPools,
      ...older,
      workload: fields(
        {
          workloadTemplate: fields({ deploymentTemplate: workload, statefulSetTemplate: workload }),
          workloadTweaks: listOf(
            fields(
              {
                ...chosenPools,
                tweaks: fields({
                  replicas: count,
                  containerImages: listOf(
                    fields({ name: text, targetImage: text }, ['name', 'targetImage']),
                  ),
                  patches: listOf(
                    fields(
                      {
                        path: text,
                        operation: oneOf('add', 'remove', 'replace'),
                        value: any,
                      },
                      ['operation', 'path'],
                    ),
                  ),
                }),
              },
              ['tweaks'],
            ),
          ),
        },
        ['workloadTemplate'],
      ),
      revisionHistoryLimit: { ...count, minimum: 0 },
      groupPolicy,
    }),
    'x-kubernetes-validations': [
      {
        rule: 'has(self.workload) || has(self.workloadTemplate)',
        message: 'workload is required, or workloadTemplate as in v1alpha1',
      },
    ],
  },
  status: fields({
    ...groupStatus,
    collisionCount: count,
    currentRevision: text,
    conditions: listOf(open),
    readyWorkloads: count,
    updatedWorkloads: count,
    totalWorkloads: count,
  }),
  columns: [
    ['TOTAL', 'integer', '.status.totalWorkloads'],
    ['READY', 'integer', '.status.readyWorkloads'],
    ['UPDATED', 'integer', '.status.updatedWorkloads'],
    age,
  ],
}

/** OpenYurt's pools of nodes and its applications. Everything about its own hubs on nodes is accepted, and has no effect. */
export const openyurtKinds: readonly DefinedKind[] = Object.freeze([
  {
    resource: nodePools,
    olderVersions: ['v1beta1', 'v1alpha1'],
    shortNames: ['np'],
    spec: fields({
      type: text,
      hostNetwork: flag,
      labels: labelMap,
      annotations: textMap,
      taints: listOf(taint),
      interConnectivity: flag,
      enableLeaderElection: flag,
      leaderElectionStrategy: text,
      leaderNodeLabelSelector: textMap,
      leaderReplicas: count,
      poolScopeMetadata: listOf(open),
    }),
    status: fields({
      readyNodeNum: count,
      unreadyNodeNum: count,
      nodes: texts,
      leaderEndpoints: listOf(fields({ nodeName: text, address: text })),
      leaderNum: count,
    }),
    columns: [
      ['TYPE', 'string', '.spec.type'],
      ['READYNODES', 'integer', '.status.readyNodeNum'],
      ['NOTREADYNODES', 'integer', '.status.unreadyNodeNum'],
      age,
    ],
  } as const,
  yurtAppSet,
])
