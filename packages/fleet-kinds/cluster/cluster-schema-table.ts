import type { Schema, SchemaSet } from '@skerry/api'

/** The definitions have the names of Karmada's own OpenAPI document. */
const prefix = 'com.github.karmada-io.karmada.pkg.apis.cluster.v1alpha1'
export const clusterSchemaName = `${prefix}.Cluster`

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const text: Schema = { type: 'string', omitZero: true }
const needed: Schema = { type: 'string', default: '' }
const whole: Schema = { type: 'integer', format: 'int32', omitZero: true }
const texts: Schema = { type: 'array', items: { type: 'string' } }
const quantity: Schema = { ref: 'io.k8s.apimachinery.pkg.api.resource.Quantity' }
const quantities: Schema = { type: 'object', additionalProperties: quantity }
const own = (name: string): Schema => ({ ref: `${prefix}.${name}` })

function object(properties: Readonly<Record<string, Schema>>, required: string[] = []): Schema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
}

function list(items: Schema): Schema {
  return { type: 'array', items }
}

function mapList(items: Schema, ...listMapKeys: string[]): Schema {
  return { type: 'array', items, listType: 'map', listMapKeys }
}

const spec = object(
  {
    id: text,
    syncMode: { ...needed, enum: ['Pull', 'Push'] },
    apiEndpoint: text,
    secretRef: own('LocalSecretReference'),
    impersonatorSecretRef: own('LocalSecretReference'),
    insecureSkipTLSVerification: { type: 'boolean', omitZero: true },
    proxyURL: text,
    proxyHeader: { type: 'object', additionalProperties: { type: 'string' } },
    provider: text,
    region: text,
    zone: text,
    zones: texts,
    taints: list({ ref: 'io.k8s.api.core.v1.Taint' }),
    resourceModels: list(own('ResourceModel')),
  },
  ['syncMode'],
)

const status = object({
  kubernetesVersion: text,
  apiEnablements: list(own('APIEnablement')),
  conditions: mapList({ ref: `${meta}.Condition` }, 'type'),
  nodeSummary: own('NodeSummary'),
  resourceSummary: own('ResourceSummary'),
  remedyActions: texts,
})

/** The schemas of Cluster and its parts. They refer to built-in definitions, which the kind carries with them. */
export const clusterSchemas: SchemaSet = Object.freeze({
  [clusterSchemaName]: object(
    {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { ref: `${meta}.ObjectMeta`, default: {} },
      spec: { ...own('ClusterSpec'), default: {} },
      status: { ...own('ClusterStatus'), default: {} },
    },
    ['spec'],
  ),
  [`${prefix}.ClusterSpec`]: spec,
  [`${prefix}.ClusterStatus`]: status,
  [`${prefix}.LocalSecretReference`]: object({ namespace: needed, name: needed }, [
    'namespace',
    'name',
  ]),
  [`${prefix}.ResourceModel`]: object(
    {
      grade: { type: 'integer', format: 'int64', default: 0 },
      ranges: list(own('ResourceModelRange')),
    },
    ['grade', 'ranges'],
  ),
  [`${prefix}.ResourceModelRange`]: object({ name: needed, min: quantity, max: quantity }, [
    'name',
    'min',
    'max',
  ]),
  [`${prefix}.APIEnablement`]: object(
    { groupVersion: needed, resources: list(own('APIResource')) },
    ['groupVersion'],
  ),
  [`${prefix}.APIResource`]: object({ name: needed, kind: needed }, ['name', 'kind']),
  [`${prefix}.NodeSummary`]: object({ totalNum: whole, readyNum: whole }),
  [`${prefix}.ResourceSummary`]: object({
    allocatable: quantities,
    allocating: quantities,
    allocated: quantities,
    allocatableModelings: list(own('AllocatableModeling')),
  }),
  [`${prefix}.AllocatableModeling`]: object(
    {
      grade: { type: 'integer', format: 'int64', default: 0 },
      count: { type: 'integer', format: 'int64', default: 0 },
    },
    ['grade', 'count'],
  ),
})
