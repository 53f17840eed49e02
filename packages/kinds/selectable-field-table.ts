import type { Kind, AnyObject, Schema, SchemaSet } from '@skerry/api'

const regarding = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

/** Field selectors in addition to metadata.name and metadata.namespace, keyed `group/Kind`. */
export const selectableFields: Readonly<Record<string, readonly string[]>> = Object.freeze({
  '/Pod': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'spec.host',
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'status.nominatedNodeName',
  ],
  '/Node': ['spec.unschedulable'],
  '/ReplicationController': ['status.replicas'],
  '/Namespace': ['status.phase'],
  '/Secret': ['type'],
  '/Service': ['spec.clusterIP', 'spec.type'],
  '/Event': [
    ...regarding.map((field) => `involvedObject.${field}`),
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  'events.k8s.io/Event': [
    ...regarding.map((field) => `regarding.${field}`),
    'reason',
    'reportingController',
    'type',
  ],
  'batch/Job': ['status.successful'],
  'certificates.k8s.io/CertificateSigningRequest': ['spec.signerName'],
  'certificates.k8s.io/ClusterTrustBundle': ['spec.signerName'],
  'certificates.k8s.io/PodCertificateRequest': ['spec.signerName', 'spec.podName', 'spec.nodeName'],
  'resource.k8s.io/ResourceSlice': ['spec.nodeName', 'spec.driver'],
})

/** Fields whose value is not the one at their path. */
const computedFields: Readonly<Record<string, (object: AnyObject) => unknown>> = Object.freeze({
  '/Pod spec.host': (pod) => at(pod, 'spec.nodeName'),
  '/Pod status.podIP': (pod) => firstPodIp(pod),
  // The field is accepted, and then matches only the empty value: no pod has a field of that name.
  '/Pod status.podIPs': () => '',
  '/Event source': (event) => at(event, 'source.component') || event['reportingComponent'],
  'batch/Job status.successful': (job) => at(job, 'status.succeeded') ?? 0,
})

/** Returns the value that a field selector compares, e.g. `spec.nodeName`; '' if the object has none. */
export function selectableFieldValue(kind: Kind, field: string, object: AnyObject): string {
  const computed = computedFields[`${kind.group}/${kind.kind} ${field}`]
  const value = computed ? computed(object) : at(object, field)
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  // A Go field always has a value; a missing field of a custom resource has none.
  return kind.isCustom ? '' : zeroOf(schemaAt(kind.schemas, kind.schemaName, field))
}

function zeroOf(schema: Schema | undefined): string {
  if (schema?.type === 'boolean') return 'false'
  return schema?.type === 'integer' ? '0' : ''
}

function schemaAt(schemas: SchemaSet, schemaName: string, path: string): Schema | undefined {
  let schema = schemas[schemaName]
  for (const name of path.split('.')) {
    if (schema?.ref !== undefined) schema = schemas[schema.ref]
    schema = schema?.properties?.[name]
  }
  return schema
}

function firstPodIp(pod: AnyObject): unknown {
  const first = at(pod, 'status.podIPs.0.ip')
  return first === undefined ? at(pod, 'status.podIP') : first
}

function at(object: unknown, path: string): unknown {
  let value = object
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    // Any JSON object or array can be read by a string key; a missing one yields undefined.
    value = (value as Record<string, unknown>)[name]
  }
  return value
}
