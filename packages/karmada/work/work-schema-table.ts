import type { Schema, SchemaSet } from '@skerry/api'

/** Definitions are named as Karmada's own OpenAPI document names them. */
const prefix = 'com.github.karmada-io.karmada.pkg.apis.work.v1alpha1'
export const workSchemaName = `${prefix}.Work`

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const text: Schema = { type: 'string', omitZero: true }
const needed: Schema = { type: 'string', default: '' }
const own = (name: string): Schema => ({ ref: `${prefix}.${name}` })
/** Any object. */
const raw: Schema = { type: 'object', additionalProperties: {}, preserveUnknownFields: true }

function object(properties: Readonly<Record<string, Schema>>, required: string[] = []): Schema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
}

function list(items: Schema): Schema {
  return { type: 'array', items }
}

/** Of Work and its parts; they refer to built-in definitions, which the kind carries beside. */
export const workSchemas: SchemaSet = Object.freeze({
  [workSchemaName]: object(
    {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { ref: `${meta}.ObjectMeta`, default: {} },
      spec: { ...own('WorkSpec'), default: {} },
      status: { ...own('WorkStatus'), default: {} },
    },
    ['spec'],
  ),
  [`${prefix}.WorkSpec`]: object({
    workload: own('WorkloadTemplate'),
    suspendDispatching: { type: 'boolean' },
    preserveResourcesOnDeletion: { type: 'boolean' },
  }),
  [`${prefix}.WorkloadTemplate`]: object({ manifests: list(raw) }),
  [`${prefix}.WorkStatus`]: object({
    conditions: list({ ref: `${meta}.Condition` }),
    manifestStatuses: list(own('ManifestStatus')),
  }),
  [`${prefix}.ManifestStatus`]: object(
    {
      identifier: { ...own('ResourceIdentifier'), default: {} },
      status: raw,
      health: { ...text, enum: ['Healthy', 'Unhealthy', 'Unknown'] },
    },
    ['identifier'],
  ),
  [`${prefix}.ResourceIdentifier`]: object(
    {
      ordinal: { type: 'integer', format: 'int32', default: 0 },
      group: text,
      version: needed,
      kind: needed,
      resource: needed,
      namespace: text,
      name: needed,
    },
    ['ordinal', 'version', 'kind', 'resource', 'name'],
  ),
})
