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
import { edgeJobCauses, edgeJobChangeCauses } from './edge-job-checks.ts'
import { edgeJobTexts } from './edge-job-texts.ts'
import { versionCauses } from './offered-versions.ts'
import { configurationSchemas } from './role-options.ts'
import {
  edgeJobClusterResource,
  edgeJobResource,
  jobText,
  type EdgeJob,
  type EdgeJobCluster,
} from './edge-job.ts'

const jobName = 'io.skerry.hub.v1alpha1.EdgeJob'
const clusterName = 'io.skerry.hub.v1alpha1.EdgeJobCluster'

/**
 * Returns EdgeJob and EdgeJobCluster as kinds for an API server that has EdgeCluster as well. `versions` returns those of
 * the program that the hub has for machines; if omitted, any is accepted.
 */
export function edgeJobKinds(builtin: readonly Kind[], versions?: () => readonly string[]): Kind[] {
  const { resource } = edgeJobResource
  return [
    kindOf('EdgeJob', { resource, schemas: jobSchemas }, jobsFor(versions), builtin),
    kindOf(
      'EdgeJobCluster',
      { resource: edgeJobClusterResource.resource, schemas: clusterSchemas },
      clusters,
      builtin,
    ),
  ]
}

function kindOf(
  kind: string,
  { resource, schemas }: { resource: string; schemas: Readonly<Record<string, Schema>> },
  { columns, strategy }: { columns: readonly Column[]; strategy: Strategy },
  builtin: readonly Kind[],
): Kind {
  const { group, version } = edgeJobResource
  const schemaName = `io.skerry.hub.v1alpha1.${kind}`
  const gvk = { group, version, kind }
  const status = { name: 'status', kind: gvk, schemaName, verbs: ['get', 'patch', 'update'] }
  const singular = kind.toLowerCase()
  const own = { kind, resource, singular, subresources: [status], schemaName, schemas }
  const made = hubKind({ ...own, columns, strategy }, builtin)
  return { ...made, isNamespaced: true, descriptions: edgeJobTexts }
}

const text: Schema = { type: 'string' }
const texts: Schema = { type: 'array', items: text }
const integer: Schema = { type: 'integer', format: 'int32' }
const boolean: Schema = { type: 'boolean' }
const time: Schema = { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time' }
const secretRef: Schema = { ref: 'io.k8s.api.core.v1.LocalObjectReference' }
const listOf = (items: Schema): Schema => ({ type: 'array', items })
const part = (name: string): Schema => ({ ref: `${jobName}${name}` })

function object(properties: Record<string, Schema>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, ...(required.length > 0 ? { required: [...required] } : {}) }
}

function whole(name: string): Schema {
  return object(
    {
      apiVersion: text,
      kind: text,
      metadata: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', default: {} },
      spec: { ref: `${name}Spec`, default: {} },
      status: { ref: `${name}Status`, default: {} },
    },
    ['spec'],
  )
}

const jobSchemas: Readonly<Record<string, Schema>> = Object.freeze({
  [jobName]: whole(jobName),
  [`${jobName}Spec`]: object(
    {
      upgrade: part('Upgrade'),
      configure: part('Configuration'),
      pullImages: part('ImagePull'),
      clusters: part('ClusterChoice'),
      machines: part('MachineChoice'),
      machinesAtOnce: integer,
      clustersAtOnce: integer,
      failureTolerance: { ref: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString' },
      timeoutSeconds: integer,
      requireConfirmation: boolean,
      checks: part('Checks'),
      retry: part('Retry'),
      paused: boolean,
    },
    ['clusters'],
  ),
  [`${jobName}Upgrade`]: object({
    version: text,
    package: part('Package'),
    images: texts,
    secretRef,
  }),
  [`${jobName}Package`]: object({ digest: text, publicKey: text }, ['digest', 'publicKey']),
  ...configurationSchemas(jobName),
  [`${jobName}ImagePull`]: object({ images: texts, secretRef }, ['images']),
  [`${jobName}ClusterChoice`]: object({
    names: texts,
    labelSelector: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector' },
  }),
  [`${jobName}MachineChoice`]: object({
    role: text,
    addresses: texts,
    labelSelector: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector' },
  }),
  [`${jobName}Checks`]: object({
    disk: boolean,
    memory: boolean,
    versionSkew: boolean,
    health: boolean,
  }),
  [`${jobName}Retry`]: object({ attempts: integer }),
  [`${jobName}Status`]: object({
    phase: text,
    observedGeneration: { type: 'integer', format: 'int64' },
    startTime: time,
    finishTime: time,
    message: text,
    totals: part('Totals'),
    clusters: listOf(part('ClusterSummary')),
    failures: listOf(part('Failure')),
  }),
  [`${jobName}Totals`]: object({
    clusters: integer,
    machines: integer,
    done: integer,
    failed: integer,
    rolledBack: integer,
    waiting: integer,
    running: integer,
    pending: integer,
  }),
  [`${jobName}ClusterSummary`]: object(
    { name: text, phase: text, machines: integer, done: integer, message: text },
    ['name', 'phase'],
  ),
  [`${jobName}Failure`]: object(
    { cluster: text, machine: text, phase: text, step: text, message: text },
    ['cluster', 'machine'],
  ),
})

const clusterSchemas: Readonly<Record<string, Schema>> = Object.freeze({
  [clusterName]: whole(clusterName),
  [`${clusterName}Spec`]: object(
    {
      job: text,
      edgeCluster: text,
      retries: integer,
      retryMachines: texts,
      cancelled: boolean,
      confirmed: texts,
    },
    ['job', 'edgeCluster'],
  ),
  [`${clusterName}Status`]: object({
    phase: text,
    message: text,
    observedRetries: integer,
    machines: listOf({ ref: `${clusterName}Machine` }),
    steps: listOf({ ref: `${clusterName}Step` }),
    conditions: listOf({ ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.Condition' }),
  }),
  [`${clusterName}Machine`]: object({ address: text, role: text, phase: text, message: text }, [
    'address',
    'phase',
  ]),
  [`${clusterName}Step`]: object(
    {
      name: text,
      machine: text,
      state: text,
      reason: text,
      isBegun: boolean,
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
const jobOf = (found: AnyObject): EdgeJob => found as unknown as EdgeJob
/** The same for the other kind. */
const clusterOf = (found: AnyObject): EdgeJobCluster => found as unknown as EdgeJobCluster

const ends = {
  name: textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  age: textColumn('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
}

const keepsStatus: Pick<
  Strategy,
  'prepareForCreate' | 'prepareForUpdate' | 'prepareForStatusUpdate'
> = {
  prepareForCreate(next) {
    next['status'] = {}
  },
  prepareForUpdate(next, old) {
    next['status'] = old['status']
  },
  prepareForStatusUpdate(next, old) {
    next['spec'] = old['spec']
  },
}

const jobs: { readonly columns: readonly Column[]; readonly strategy: Strategy } = {
  columns: [
    ends.name,
    textColumn('Work', (found) => jobText(jobOf(found).spec)),
    textColumn('Phase', (found) => jobOf(found).status?.phase ?? 'Pending'),
    textColumn('Machines', (found) => {
      const { done = 0, machines = 0 } = jobOf(found).status?.totals ?? {}
      return `${done}/${machines}`
    }),
    textColumn('Message', (found) => jobOf(found).status?.message ?? ''),
    ends.age,
  ],
  strategy: {
    ...keepsStatus,
    nameRule: 'dns-label',
    validate: (found) => edgeJobCauses(jobOf(found)),
    validateUpdate: (next, old) => [
      ...edgeJobCauses(jobOf(next)),
      ...edgeJobChangeCauses(jobOf(next).spec, jobOf(old).spec),
    ],
  },
}

/** A job's version cannot be changed, so that only a new job is judged by the versions that the hub has. */
function jobsFor(versions: (() => readonly string[]) | undefined): typeof jobs {
  if (versions === undefined) return jobs
  const { columns, strategy } = jobs
  const validate = (found: AnyObject): StatusCause[] => {
    const causes = edgeJobCauses(jobOf(found))
    // A version that is spelled wrongly is told once.
    if (causes.length > 0) return causes
    const { upgrade = {} } = jobOf(found).spec
    return versionCauses(upgrade, versions(), 'spec.upgrade.version')
  }
  return { columns, strategy: { ...strategy, validate } }
}

const clusters: { readonly columns: readonly Column[]; readonly strategy: Strategy } = {
  columns: [
    ends.name,
    textColumn('Phase', (found) => clusterOf(found).status?.phase ?? 'Pending'),
    textColumn('Machines', (found) => {
      const machines = clusterOf(found).status?.machines ?? []
      return `${machines.filter(({ phase }) => phase === 'Done').length}/${machines.length}`
    }),
    textColumn('Message', (found) => clusterOf(found).status?.message ?? ''),
    ends.age,
  ],
  strategy: {
    ...keepsStatus,
    nameRule: 'dns-subdomain',
    validate: () => [],
    // Its steps were done there, for that job.
    validateUpdate(next, old) {
      const [after, before] = [clusterOf(next).spec, clusterOf(old).spec]
      return (['job', 'edgeCluster'] as const)
        .filter((field) => after[field] !== before[field])
        .map((field) => fieldForbidden(`spec.${field}`, 'may not be changed'))
    },
  },
}
