import type { DefinedKind } from '../definitions/definition.ts'
import {
  age,
  count,
  fields,
  flag,
  groupPolicy,
  groupStatus,
  listOf,
  oneOf,
  open,
  selectorFields,
  text,
  textMap,
  texts,
} from '../definitions/schemas.ts'
import { edgeApplications } from './edge-application.ts'
import { edgeGroups } from './edge-group.ts'

const words = listOf(
  fields({ containerName: text, operator: oneOf('add', 'remove'), value: texts }, [
    'containerName',
    'operator',
  ]),
)

const overriders = fields({
  replicas: { type: 'integer' },
  imageOverriders: listOf(
    fields(
      {
        predicate: fields({ path: text }, ['path']),
        component: oneOf('Registry', 'Repository', 'Tag'),
        operator: oneOf('add', 'remove', 'replace'),
        value: text,
      },
      ['component', 'operator'],
    ),
  ),
  envOverriders: listOf(
    fields(
      { containerName: text, operator: oneOf('add', 'remove', 'replace'), value: listOf(open) },
      ['containerName', 'operator'],
    ),
  ),
  commandOverriders: words,
  argsOverriders: words,
  resourcesOverriders: listOf(
    fields({ containerName: text, value: open }, ['containerName', 'value']),
  ),
})

const edgeApplication: DefinedKind = {
  resource: edgeApplications,
  shortNames: ['eapp'],
  spec: fields(
    {
      workloadTemplate: fields({ manifests: listOf(open) }),
      workloadScope: fields({
        targetNodeGroups: listOf(fields({ name: text, overriders }, ['name'])),
        targetNodeLabels: listOf(fields({ labelSelector: fields(selectorFields), overriders })),
      }),
      groupPolicy: {
        ...groupPolicy,
        properties: {
          ...groupPolicy.properties,
          kindsPerGroup: listOf(oneOf('Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob')),
        },
      },
    },
    ['workloadScope'],
  ),
  status: fields({
    ...groupStatus,
    workloadStatus: listOf(
      fields(
        {
          identifier: fields(
            {
              ordinal: { ...count, minimum: 0 },
              group: text,
              version: text,
              kind: text,
              resource: text,
              namespace: text,
              name: text,
            },
            ['ordinal'],
          ),
          conditions: oneOf('Processing', 'Available'),
        },
        ['identifier'],
      ),
    ),
  }),
  columns: [age],
}

/** KubeEdge's groups of nodes and its applications, as of version 1.23. */
export const kubeedgeKinds: readonly DefinedKind[] = Object.freeze([
  {
    resource: edgeGroups,
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
    columns: [age],
  } as const,
  edgeApplication,
])
