/** The form of a job, and the object that it stands for. Pure. */
import { filled, labelsOf, numberOf, wordsOf } from '../../data/browser/form-values.ts'
import type { FieldFault } from '../../data/hub/hub-error.ts'

export const works = ['upgrade', 'configure', 'pullImages'] as const

export interface JobForm {
  /** The hub makes one if it is empty. */
  readonly name: string
  readonly namespace: string
  readonly work: (typeof works)[number]
  readonly version: string
  /** Images that are pulled, also before an upgrade. */
  readonly images: string
  readonly pullSecret: string
  readonly siteLogLevel: string
  readonly metricsAPI: '' | 'on' | 'off'
  readonly nodeLogLevel: string
  /** Clusters by name, or else by labels. */
  readonly names: string
  readonly labels: string
  readonly role: '' | 'Master' | 'Node'
  readonly addresses: string
  readonly machinesAtOnce: string
  readonly clustersAtOnce: string
  readonly failureTolerance: string
  readonly requiresConfirmation: boolean
}

export const emptyJob: JobForm = Object.freeze({
  name: '',
  namespace: 'default',
  work: 'upgrade',
  version: '',
  images: '',
  pullSecret: '',
  siteLogLevel: '',
  metricsAPI: '',
  nodeLogLevel: '',
  names: '',
  labels: '',
  role: '',
  addresses: '',
  machinesAtOnce: '',
  clustersAtOnce: '',
  failureTolerance: '',
  requiresConfirmation: true,
})

export function edgeJobOf(form: JobForm): Readonly<Record<string, unknown>> {
  const { name, namespace, work } = form
  const named =
    name.trim() === '' ? { generateName: `${work.toLowerCase()}-` } : { name: name.trim() }
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeJob',
    metadata: { namespace: namespace.trim(), ...named },
    spec: {
      [work]: workOf(form),
      clusters: clustersOf(form),
      ...filled({
        machines: filled({ role: form.role, addresses: wordsOf(form.addresses) }),
        machinesAtOnce: numberOf(form.machinesAtOnce),
        clustersAtOnce: numberOf(form.clustersAtOnce),
        failureTolerance: numberOf(form.failureTolerance),
        requireConfirmation: form.requiresConfirmation ? true : undefined,
      }),
    },
  }
}

function workOf(form: JobForm): unknown {
  const images = wordsOf(form.images)
  const secret = form.pullSecret.trim()
  const secretRef = secret === '' ? undefined : { name: secret }
  switch (form.work) {
    case 'upgrade':
      return filled({
        version: form.version,
        images,
        secretRef: images === undefined ? undefined : secretRef,
      })
    case 'configure':
      return filled({
        site: filled({
          logLevel: form.siteLogLevel,
          metricsAPI: form.metricsAPI === '' ? undefined : form.metricsAPI === 'on',
        }),
        node: filled({ logLevel: form.nodeLogLevel }),
      })
    case 'pullImages':
      return { images: images ?? [], ...filled({ secretRef }) }
  }
}

function clustersOf({ names, labels }: JobForm): unknown {
  const words = wordsOf(names)
  if (words !== undefined) return { names: words }
  const matchLabels = labelsOf(labels)
  return matchLabels === undefined ? {} : { labelSelector: { matchLabels } }
}

const fields: readonly (readonly [prefix: string, field: keyof JobForm])[] = [
  ['metadata.name', 'name'],
  ['spec.upgrade.images', 'images'],
  ['spec.upgrade.secretRef', 'pullSecret'],
  ['spec.upgrade', 'version'],
  ['spec.pullImages.secretRef', 'pullSecret'],
  ['spec.pullImages', 'images'],
  ['spec.configure.node', 'nodeLogLevel'],
  ['spec.configure', 'siteLogLevel'],
  ['spec.clusters.labelSelector', 'labels'],
  ['spec.clusters', 'names'],
  ['spec.machines', 'addresses'],
  ['spec.machinesAtOnce', 'machinesAtOnce'],
  ['spec.clustersAtOnce', 'clustersAtOnce'],
  ['spec.failureTolerance', 'failureTolerance'],
]

/** The hub's faults by the field of the form; the rest by the empty text. */
export function jobFaults(faults: readonly FieldFault[]): ReadonlyMap<string, string> {
  return new Map(
    faults.map(({ field, message }) => {
      const [, name = ''] =
        fields.find(([prefix]) => field === prefix || new RegExp(`^${prefix}[.[]`).test(field)) ??
        []
      return [name, message]
    }),
  )
}

/** A program for machines, of the list that the hub publishes. */
interface HeldProgram {
  readonly version?: unknown
}

/** Reads the versions of the list; the newest stands first. Any other text has none. */
export function heldVersions(text: string): string[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    return []
  }
  const versions = (Array.isArray(list) ? list : []).flatMap((each: HeldProgram | null) =>
    typeof each?.version === 'string' ? [each.version] : [],
  )
  return [...new Set(versions)].toSorted((a, b) => newest.compare(b, a))
}

const newest = new Intl.Collator('en', { numeric: true })
