import type { AnyObject, JsonObject } from '@skerry/api'
import { virtualClusterResource, virtualClusterSetResource } from './virtual-cluster.ts'

const text: JsonObject = { type: 'string' }
const texts: JsonObject = { type: 'array', items: text }
const textMap: JsonObject = { type: 'object', additionalProperties: text }
const quantities: JsonObject = {
  type: 'object',
  additionalProperties: {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  },
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 ? { required: [...required] } : {}) }
}

const nodeSelector: JsonObject = object({
  matchLabels: textMap,
  matchExpressions: {
    type: 'array',
    items: object({ key: text, operator: text, values: texts }, ['key', 'operator']),
  },
})

const template: JsonObject = {
  provider: text,
  region: text,
  zones: texts,
  labels: textMap,
  namespaces: object({ pattern: text }),
  isolation: object({
    closedNetwork: { type: 'boolean' },
    quota: quantities,
    allowsClusterRights: { type: 'boolean' },
    allowsHostAccess: { type: 'boolean' },
    volumeSources: texts,
    externalAddresses: texts,
  }),
  podTemplatePaths: { type: 'object', additionalProperties: texts },
  sharedKinds: texts,
}

const conditions: JsonObject = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: object(
    {
      type: text,
      status: text,
      reason: text,
      message: text,
      lastTransitionTime: { type: 'string', format: 'date-time' },
      observedGeneration: { type: 'integer', format: 'int64' },
    },
    ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  ),
}

const source: JsonObject = {
  ...object({
    label: object({ key: { type: 'string', minLength: 1 } }, ['key']),
    nodeGroups: object({}),
    nodeUnits: object({}),
    nodePools: object({}),
  }),
  minProperties: 1,
  maxProperties: 1,
}

const whole: JsonObject = { type: 'integer', format: 'int32' }
/** At most a week: a cluster that should stay forever is written as a VirtualCluster. */
const graceSeconds: JsonObject = { ...whole, minimum: 0, maximum: 604_800 }

/** The definitions that an agent with virtual clusters installs in its cluster, at each start. */
export const virtualClusterCrds: readonly AnyObject[] = [
  crd({
    plural: virtualClusterResource.resource,
    kind: 'VirtualCluster',
    spec: object({ ...template, clusterName: text, nodeSelector, nodeNames: texts }),
    status: object({
      clusterName: text,
      nodes: object({ total: whole, ready: whole }),
      problems: texts,
      conditions,
    }),
    columns: [
      column('Cluster', '.status.clusterName'),
      column('Registered', '.status.conditions[?(@.type=="Registered")].status'),
      column('Ready', '.status.conditions[?(@.type=="Ready")].status'),
      { ...column('Nodes', '.status.nodes.total'), type: 'integer' },
      column('Problem', '.status.problems[0]'),
      { ...column('Age', '.metadata.creationTimestamp'), type: 'date' },
    ],
  }),
  crd({
    plural: virtualClusterSetResource.resource,
    kind: 'VirtualClusterSet',
    spec: object({ source, template: object(template), gracePeriodSeconds: graceSeconds }, [
      'source',
    ]),
    status: object({ virtualClusters: whole, problems: texts, conditions }),
    columns: [
      { ...column('Clusters', '.status.virtualClusters'), type: 'integer' },
      column('Problem', '.status.problems[0]'),
      { ...column('Age', '.metadata.creationTimestamp'), type: 'date' },
    ],
  }),
]

interface CrdParts {
  readonly plural: string
  readonly kind: string
  readonly spec: JsonObject
  readonly status: JsonObject
  readonly columns: JsonObject[]
}

function crd({ plural, kind, spec, status, columns }: CrdParts): AnyObject {
  const { group, version } = virtualClusterResource
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: object({ spec, status }, ['spec']) },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
        },
      ],
    },
  }
}

function column(name: string, jsonPath: string): JsonObject {
  return { name, type: 'string', jsonPath }
}
