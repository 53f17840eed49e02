import { isDeepStrictEqual } from 'node:util'
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
import { lastMasterCauses } from './leaving-machines.ts'
import { mastersFixedCauses } from './masters-checks.ts'
import { edgeClusterResource, type EdgeCluster } from './edge-cluster.ts'
import { jumpHostSchema, jumpStatusSchema, waySchemas } from './edge-cluster-ways.ts'
import { importFixedCauses, importSchema } from './edge-cluster-import.ts'
import { statusAfterChange } from './package-in-force.ts'
import { edgeClusterTexts } from './edge-cluster-texts.ts'
import { lateChangeTexts } from './late-changes.ts'
import { machinesOf } from './machine-addresses.ts'
import { figuresOf } from './network-size.ts'
import { versionCauses } from './offered-versions.ts'
import { configurationSchemas } from './role-options.ts'

const schemaName = 'io.skerry.hub.v1alpha1.EdgeCluster'

/**
 * Returns EdgeCluster as a kind for an API server. Its schemas refer to definitions of the built-in kinds. `versions`
 * returns those of the program that the hub has for machines; if omitted, any is accepted.
 */
export function edgeClusterKind(
  builtin: readonly Kind[],
  versions?: () => readonly string[],
): Kind {
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
        strategy: strategyFor(versions),
      },
      builtin,
    ),
    isNamespaced: true,
    descriptions: edgeClusterTexts,
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
    mastersTakeWorkloads: boolean,
    highAvailability: part('HighAvailability'),
    store: part('Store'),
    package: part('Package'),
    files: listOf(part('File')),
    hooks: listOf(part('Hook')),
    skipSteps: texts,
    retry: part('Retry'),
    paused: boolean,
    deletion: part('Deletion'),
    mode: text,
    machinesAtOnce: integer,
    version: text,
    proxy: part('Proxy'),
    registries: listOf(part('RegistryMirror')),
    addons: listOf(part('AddOn')),
    import: part('Import'),
  }),
  [`${schemaName}Network`]: object({
    podCIDR: text,
    serviceCIDR: text,
    dnsDomain: text,
    podsPerNode: integer,
  }),
  [`${schemaName}Proxy`]: object({
    httpProxy: text,
    httpsProxy: text,
    noProxy: texts,
    credentials: { ref: 'io.k8s.api.core.v1.LocalObjectReference' },
  }),
  [`${schemaName}RegistryMirror`]: object({ host: text, endpoints: texts }, ['host', 'endpoints']),
  [`${schemaName}AddOn`]: object({ configMap: text, key: text }, ['configMap', 'key']),
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
      taints: listOf(part('Taint')),
    },
    ['addresses', 'credentials'],
  ),
  [`${schemaName}Import`]: importSchema,
  [`${schemaName}JumpHost`]: jumpHostSchema,
  [`${schemaName}JumpStatus`]: jumpStatusSchema,
  [`${schemaName}Taint`]: object({ key: text, value: text, effect: text }, ['key', 'effect']),
  [`${schemaName}HighAvailability`]: object({
    type: text,
    address: text,
    port: integer,
    virtualRouterId: integer,
  }),
  [`${schemaName}Store`]: object({ type: text, heartbeatMilliseconds: integer }),
  [`${schemaName}Package`]: object({ digest: text, publicKey: text }, ['digest', 'publicKey']),
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
    servicesMax: integer,
    capacity: text,
    mode: text,
    plan: listOf(part('StepPlan')),
    machines: listOf(part('MachineStatus')),
    jumps: listOf(part('JumpStatus')),
    steps: listOf(part('StepStatus')),
    conditions: listOf({ ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.Condition' }),
    programs: { type: 'object', additionalProperties: text },
    package: part('Package'),
    configuration: part('Configuration'),
    nodeSettings: listOf(part('NodeSettings')),
  }),
  ...configurationSchemas(schemaName),
  [`${schemaName}NodeSettings`]: object(
    {
      digest: text,
      labels: { type: 'object', additionalProperties: text },
      taints: listOf(part('Taint')),
    },
    ['digest'],
  ),
  [`${schemaName}StepPlan`]: object({ name: text, does: text, where: text }, [
    'name',
    'does',
    'where',
  ]),
  [`${schemaName}MachineStatus`]: object(
    {
      address: text,
      role: text,
      hostKey: text,
      unknownHostKey: text,
      isChanged: boolean,
      node: text,
      machineIdDigest: text,
      login: part('MachineLogin'),
      isCordoned: boolean,
      isDialled: boolean,
      isDead: boolean,
      site: text,
      member: text,
      isMade: boolean,
      given: texts,
    },
    ['address', 'role'],
  ),
  [`${schemaName}MachineLogin`]: object({
    user: text,
    port: integer,
    credentials: text,
    ...waySchemas(part),
  }),
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
      findings: texts,
      fault: text,
      input: text,
      reason: text,
      isBegun: { type: 'boolean' },
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
  {
    ...textColumn('Capacity', (object) => edgeClusterOf(object).status?.capacity ?? ''),
    priority: 1,
  },
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

const strategy = {
  nameRule: 'dns-label',
  prepareForCreate(next) {
    setMachines(edgeClusterOf(next))
    // A dry run, such as that of a form, shows the figures that follow from the object.
    next['status'] = figuresOf(edgeClusterOf(next))
  },
  prepareForUpdate(next, old) {
    next['status'] = statusAfterChange(edgeClusterOf(next), edgeClusterOf(old))
    setMachines(edgeClusterOf(next))
  },
  prepareForStatusUpdate(next, old) {
    next['spec'] = old['spec']
  },
  warnings: (next, old) =>
    old === undefined ? [] : lateChangeTexts(edgeClusterOf(next), edgeClusterOf(old)),
  validate: (object) => edgeClusterCauses(edgeClusterOf(object)),
  validateUpdate(next, old) {
    const [after, before] = [edgeClusterOf(next), edgeClusterOf(old)]
    // An object that was accepted by older rules can still be annotated, and deleted.
    if (isDeepStrictEqual(after.spec, before.spec)) return []
    const causes = edgeClusterCauses(after)
    return [...causes, ...fixedCauses(after, before), ...importFixedCauses(after, before)]
  },
} satisfies Strategy

/** A hub that was upgraded must still serve objects that name its former version, so only a change is judged. */
function strategyFor(versions: (() => readonly string[]) | undefined): Strategy {
  if (versions === undefined) return strategy
  return {
    ...strategy,
    validate: (object) => [
      ...strategy.validate(object),
      ...versionCauses(edgeClusterOf(object).spec, versions()),
    ],
    validateUpdate(next, old) {
      const isSame = edgeClusterOf(next).spec.version === edgeClusterOf(old).spec.version
      const odd = isSame ? [] : versionCauses(edgeClusterOf(next).spec, versions())
      return [...strategy.validateUpdate(next, old), ...odd]
    },
  }
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
  const isSame = (['podCIDR', 'serviceCIDR', 'dnsDomain', 'podsPerNode'] as const).every(
    (field) => before[field] === after[field],
  )
  if (!isSame) {
    causes.push(fieldForbidden('spec.network', 'may not be changed'))
  }
  if (next.mode === 'Check' && old.mode !== 'Check') {
    causes.push(fieldForbidden('spec.mode', 'may be changed from Check to Make only'))
  }
  if ((next.mastersTakeWorkloads ?? true) !== (old.mastersTakeWorkloads ?? true)) {
    const why = 'may not be changed: taint the nodes of the masters, or remove their taint'
    causes.push(fieldForbidden('spec.mastersTakeWorkloads', why))
  }
  return [...causes, ...mastersFixedCauses(next, old), ...lastMasterCauses(next, old)]
}
