import { edgeNetworkDefaults } from '../limits-table.ts'
import {
  ageOf,
  fieldForbidden,
  type AnyObject,
  type Column,
  type Kind,
  type Schema,
  type StatusCause,
  type Strategy,
} from '@skerry/api'
import { hubKind, textColumn } from '@skerry/fleet-kinds'
import { edgeClusterCauses } from './edge-cluster-checks.ts'
import { edgeClusterResource, type EdgeCluster } from './edge-cluster.ts'
import { jumpHostSchema, jumpStatusSchema, waySchemas } from './edge-cluster-ways.ts'
import { importFixedCauses, importSchema } from './edge-cluster-import.ts'
import { machinesOf } from './machine-addresses.ts'

const schemaName = 'io.skerry.hub.v1alpha1.EdgeCluster'

/** Returns EdgeCluster as a kind for an API server. Its schemas refer to definitions of the built-in kinds. */
export function edgeClusterKind(builtin: readonly Kind[]): Kind {
  const { group, version, resource } = edgeClusterResource
  const kind = { group, version, kind: 'EdgeCluster' }
  return {
    ...hubKind(
      {
        kind: 'EdgeCluster',
        resource,
        singular: 'edgecluster',
        subresources: [{ name: 'status', kind, schemaName, verbs: ['get', 'patch', 'update'] }],
        schemaName,
        schemas,
        columns,
        strategy,
      },
      builtin,
    ),
    isNamespaced: true,
  }
}

const text: Schema = { type: 'string' }
const texts: Schema = { type: 'array', items: text }
const integer: Schema = { type: 'integer', format: 'int32' }
const boolean: Schema = { type: 'boolean' }
const time: Schema = { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time' }
const part = (name: string): Schema => ({ ref: `${schemaName}${name}` })
const listOf = (items: Schema): Schema => ({ type: 'array', items })

function object(properties: Record<string, Schema>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, ...(required.length > 0 ? { required: [...required] } : {}) }
}

const schemas: Readonly<Record<string, Schema>> = Object.freeze({
  [schemaName]: object(
    {
      apiVersion: text,
      kind: text,
      metadata: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', default: {} },
      spec: { ...part('Spec'), default: {} },
      status: { ...part('Status'), default: {} },
    },
    ['spec'],
  ),
  [`${schemaName}Spec`]: object({
    displayName: text,
    clusterName: text,
    hubServer: text,
    networkInterface: text,
    network: part('Network'),
    apiNames: texts,
    machines: listOf(part('MachineBlock')),
    highAvailability: part('HighAvailability'),
    store: part('Store'),
    files: listOf(part('File')),
    hooks: listOf(part('Hook')),
    skipSteps: texts,
    retry: part('Retry'),
    paused: boolean,
    deletion: part('Deletion'),
    import: importSchema,
  }),
  [`${schemaName}Network`]: object({ podCIDR: text, serviceCIDR: text, dnsDomain: text }),
  [`${schemaName}MachineBlock`]: object(
    {
      addresses: texts,
      port: integer,
      user: text,
      credentials: { ref: 'io.k8s.api.core.v1.LocalObjectReference' },
      hostKeys: texts,
      acceptNewHostKeys: boolean,
      role: text,
      labels: { type: 'object', additionalProperties: text },
      ...waySchemas(part),
    },
    ['addresses', 'credentials'],
  ),
  [`${schemaName}JumpHost`]: jumpHostSchema,
  [`${schemaName}JumpStatus`]: jumpStatusSchema,
  [`${schemaName}HighAvailability`]: object({ type: text, address: text, port: integer }),
  [`${schemaName}Store`]: object({ type: text }),
  [`${schemaName}File`]: object({ from: part('FileSource'), path: text, mode: text }, [
    'from',
    'path',
  ]),
  [`${schemaName}FileSource`]: object({ configMap: text, secret: text, key: text }, ['key']),
  [`${schemaName}Hook`]: object({ when: text, configMap: text, key: text }, [
    'when',
    'configMap',
    'key',
  ]),
  [`${schemaName}Retry`]: object({ attempts: integer }),
  [`${schemaName}Deletion`]: object({ machines: text }),
  [`${schemaName}Status`]: object({
    phase: text,
    observedGeneration: { type: 'integer', format: 'int64' },
    clusterName: text,
    nodesMax: integer,
    machines: listOf(part('MachineStatus')),
    jumps: listOf(part('JumpStatus')),
    steps: listOf(part('StepStatus')),
    conditions: listOf({ ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.Condition' }),
  }),
  [`${schemaName}MachineStatus`]: object(
    { address: text, role: text, hostKey: text, unknownHostKey: text, isChanged: boolean },
    ['address', 'role'],
  ),
  [`${schemaName}StepStatus`]: object(
    {
      name: text,
      machine: text,
      state: text,
      attempt: integer,
      startTime: time,
      finishTime: time,
      nextTime: time,
      message: text,
      output: text,
    },
    ['name', 'state'],
  ),
})

/** The registry hands a strategy and columns only objects that were decoded as their kind. */
function edgeClusterOf(object: AnyObject): EdgeCluster {
  return object as unknown as EdgeCluster
}

const columns: readonly Column[] = [
  textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  textColumn('Phase', (object) => edgeClusterOf(object).status?.phase ?? 'Pending'),
  textColumn('Steps', (object) => progressOf(edgeClusterOf(object))),
  textColumn('Machines', (object) => String(machinesOf(edgeClusterOf(object).spec).length)),
  textColumn('Message', (object) => messageOf(edgeClusterOf(object))),
  textColumn('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
]

/** Returns the number of finished steps and of all: 7/12. */
function progressOf({ status }: EdgeCluster): string {
  const steps = status?.steps ?? []
  const done = steps.filter(({ state }) => state === 'Done' || state === 'Skipped')
  return `${done.length}/${steps.length}`
}

function messageOf({ status }: EdgeCluster): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? ''
}

const strategy: Strategy = {
  nameRule: 'dns-label',
  prepareForCreate(next) {
    next['status'] = {}
    setMachines(edgeClusterOf(next))
  },
  prepareForUpdate(next, old) {
    next['status'] = old['status']
    setMachines(edgeClusterOf(next))
  },
  prepareForStatusUpdate(next, old) {
    next['spec'] = old['spec']
  },
  validate: (object) => edgeClusterCauses(edgeClusterOf(object)),
  validateUpdate(next, old) {
    const causes = edgeClusterCauses(edgeClusterOf(next))
    const [after, before] = [edgeClusterOf(next), edgeClusterOf(old)]
    return [...causes, ...fixedCauses(after, before), ...importFixedCauses(after, before)]
  },
}

/** An import has no machines, and may leave the field out. */
function setMachines({ spec }: { spec: Partial<EdgeCluster['spec']> }): void {
  spec.machines ??= []
}

/** Machines have been made with these: a change would need a new cluster. */
function fixedCauses({ spec: next }: EdgeCluster, { spec: old }: EdgeCluster): StatusCause[] {
  const causes: StatusCause[] = []
  if (next.clusterName !== old.clusterName) {
    causes.push(fieldForbidden('spec.clusterName', 'may not be changed'))
  }
  const before = { ...edgeNetworkDefaults, ...old.network }
  const after = { ...edgeNetworkDefaults, ...next.network }
  const isSame = (['podCIDR', 'serviceCIDR', 'dnsDomain'] as const).every(
    (field) => before[field] === after[field],
  )
  if (!isSame) {
    causes.push(fieldForbidden('spec.network', 'may not be changed'))
  }
  if (masterOf(next) !== masterOf(old)) {
    causes.push(fieldForbidden('spec.machines', 'the master may not be changed'))
  }
  return causes
}

function masterOf(spec: EdgeCluster['spec']): string | undefined {
  return machinesOf(spec).find(({ role }) => role === 'Master')?.address
}
