import type { ApiResource } from '@skerry/discovery'

/** Discovery and OpenAPI data of metrics.k8s.io/v1beta1. */
export const metricsGroup = 'metrics.k8s.io'
export const metricsVersion = 'v1beta1'

export const metricsResources: readonly ApiResource[] = Object.freeze([
  {
    name: 'nodes',
    singularName: '',
    namespaced: false,
    kind: 'NodeMetrics',
    verbs: ['get', 'list'],
  },
  {
    name: 'pods',
    singularName: '',
    namespaced: true,
    kind: 'PodMetrics',
    verbs: ['get', 'list'],
  },
])

const definitionPrefix = 'io.k8s.metrics.pkg.apis.metrics.v1beta1.'

/** Returns schemas with references in the form of the OpenAPI version. */
function definitions(referencePrefix: string): Record<string, object> {
  const reference = (name: string) => ({ $ref: `${referencePrefix}${definitionPrefix}${name}` })
  const text = (description: string) => ({ description, type: 'string' })
  const usage = {
    description: 'The usage: cpu in cores, memory in bytes',
    type: 'object',
    additionalProperties: { type: 'string' },
  }
  const head = {
    apiVersion: text('The version of this representation'),
    kind: text('The kind of this object'),
    metadata: { description: 'Metadata of the node or pod', type: 'object' },
    timestamp: { ...text('The end of the measured interval'), format: 'date-time' },
    window: text('The length of the measured interval'),
  }
  const kindOf = (kind: string) => ({
    'x-kubernetes-group-version-kind': [{ group: metricsGroup, kind, version: metricsVersion }],
  })
  const listOf = (kind: string) => ({
    description: `A list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: head.apiVersion,
      kind: head.kind,
      metadata: { type: 'object' },
      items: { type: 'array', items: reference(kind) },
    },
    ...kindOf(`${kind}List`),
  })
  const schemas: Record<string, object> = {
    ContainerMetrics: {
      description: 'The usage of one container',
      type: 'object',
      required: ['name', 'usage'],
      properties: { name: text('The name of the container'), usage },
    },
    NodeMetrics: {
      description: 'The usage of a node over an interval',
      type: 'object',
      required: ['timestamp', 'window', 'usage'],
      properties: { ...head, usage },
      ...kindOf('NodeMetrics'),
    },
    NodeMetricsList: listOf('NodeMetrics'),
    PodMetrics: {
      description: 'The usage of the containers of a pod over an interval',
      type: 'object',
      required: ['timestamp', 'window', 'containers'],
      properties: {
        ...head,
        containers: { type: 'array', items: reference('ContainerMetrics') },
      },
      ...kindOf('PodMetrics'),
    },
    PodMetricsList: listOf('PodMetrics'),
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [`${definitionPrefix}${name}`, schema]),
  )
}

function paths(respond: (definition: string) => object): Record<string, object> {
  const root = `/apis/${metricsGroup}/${metricsVersion}`
  const get = (kind: string, action: 'get' | 'list') => ({
    get: {
      operationId: `${action}MetricsV1beta1${kind}`,
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': { group: metricsGroup, kind, version: metricsVersion },
      responses: respond(`${definitionPrefix}${kind}${action === 'list' ? 'List' : ''}`),
    },
  })
  return {
    [`${root}/nodes`]: get('NodeMetrics', 'list'),
    [`${root}/nodes/{name}`]: get('NodeMetrics', 'get'),
    [`${root}/pods`]: get('PodMetrics', 'list'),
    [`${root}/namespaces/{namespace}/pods`]: get('PodMetrics', 'list'),
    [`${root}/namespaces/{namespace}/pods/{name}`]: get('PodMetrics', 'get'),
  }
}

export function metricsOpenApiV3(): object {
  const prefix = '#/components/schemas/'
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes metrics', version: metricsVersion },
    paths: paths((name) => ({
      200: {
        description: 'OK',
        content: { 'application/json': { schema: { $ref: `${prefix}${name}` } } },
      },
    })),
    components: { schemas: definitions(prefix) },
  }
}

export function metricsSwagger() {
  const prefix = '#/definitions/'
  return {
    paths: paths((name) => ({ 200: { description: 'OK', schema: { $ref: `${prefix}${name}` } } })),
    definitions: definitions(prefix),
  }
}
