import { fieldForbidden, type Schema, type StatusCause } from '@skerry/api'
import { registrationCauses } from '@skerry/fleet-kinds'
import { clusterNameOfEdge, type EdgeCluster, type EdgeClusterSpec } from './edge-cluster.ts'

const texts: Schema = { type: 'array', items: { type: 'string' } }

export const importSchema: Schema = {
  type: 'object',
  properties: {
    applyWorks: { type: 'boolean' },
    allowServices: texts,
    allowDials: texts,
    image: { type: 'string' },
  },
}

export function isImport({ spec }: Pick<EdgeCluster, 'spec'>): boolean {
  return spec.import !== undefined
}

/** The fields by which a cluster is made of machines. */
const ofMachines = [
  'networkInterface',
  'network',
  'apiNames',
  'highAvailability',
  'store',
  'mastersTakeWorkloads',
  'package',
  'files',
  'hooks',
  'deletion',
  'mode',
  'machinesAtOnce',
  'version',
  'proxy',
  'registries',
  'addons',
] as const satisfies readonly (keyof EdgeClusterSpec)[]

/** Returns everything that is wrong with an import. */
export function importCauses(edge: EdgeCluster): StatusCause[] {
  const { import: asked, machines, hubServer: server } = edge.spec
  if (asked === undefined) return []
  const causes: StatusCause[] = []
  if (machines.length > 0) {
    const why =
      'may not be set together with spec.import: a cluster is imported, or made of machines'
    causes.push(fieldForbidden('spec.machines', why))
  }
  for (const field of ofMachines) {
    if (edge.spec[field] === undefined) continue
    causes.push(fieldForbidden(`spec.${field}`, 'has no meaning for a cluster that is imported'))
  }
  const spec = { ...asked, clusterName: clusterNameOfEdge(edge), ...(server ? { server } : {}) }
  const registration = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: {},
    spec,
  }
  const named = Object.keys(asked).map((field) => `spec.${field}`)
  for (const cause of registrationCauses(registration)) {
    const field = cause.field ?? ''
    // Names and the server are judged for every EdgeCluster.
    if (!named.some((name) => field.startsWith(name))) continue
    causes.push({ ...cause, field: field.replace(/^spec/, 'spec.import') })
  }
  return causes
}

/** A cluster that was made is never imported, and the other way around. */
export function importFixedCauses(next: EdgeCluster, old: EdgeCluster): StatusCause[] {
  if (isImport(next) === isImport(old)) return []
  return [fieldForbidden('spec.import', 'may not be added or removed')]
}
