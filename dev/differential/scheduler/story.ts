import { parse } from 'yaml'
import { kindOf, podOf, nodeOf, type Manifest, type PodStep } from './story-objects.ts'

/** A story of events in a cluster, with the places at which the scheduler's results are observed. */
export interface Story {
  readonly name: string
  /** The fields of a KubeSchedulerConfiguration; undefined if none is given. */
  readonly config: Readonly<Record<string, unknown>> | undefined
  /** The answers of the configuration's extenders, by verb. */
  readonly extender: Readonly<Record<string, unknown>>
  readonly steps: readonly Step[]
}

export type Step =
  | {
      readonly act: 'create'
      readonly object: Manifest
      readonly status: object | undefined
      /** A pod that no scheduler decides about yet: that is not waited for. */
      readonly isHeld: boolean
    }
  | { readonly act: 'patch' | 'status'; readonly target: Target; readonly patch: object }
  | { readonly act: 'delete'; readonly target: Target }
  | {
      readonly act: 'look'
      readonly title: string
      readonly ties: Ties
      /** A line to wait for; an empty string for none. */
      readonly until: string
    }

export interface Target {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The nodes that are equally good for each pod, of which upstream takes any. */
export type Ties = Readonly<Record<string, readonly string[]>>

/** Throws RangeError where the text is not a story. */
export function parseStory(name: string, text: string): Story {
  // The reader of each step checks its own fields; the server reports errors in the rest.
  const document = parse(text) as Readonly<Record<string, unknown>>
  const steps = document['steps']
  if (!Array.isArray(steps)) throw new RangeError(`Cannot read story ${name}: it has no steps`)
  return {
    name,
    config: asRecord(document['config']),
    extender: asRecord(document['extender']) ?? {},
    steps: steps.flatMap((step: unknown, index) => stepsOf(step, name, `${name}: step ${index}`)),
  }
}

function stepsOf(step: unknown, namespace: string, place: string): Step[] {
  const [entry, ...others] = Object.entries(asRecord(step) ?? {})
  if (entry === undefined || others.some(([key]) => key !== 'ties' && key !== 'until'))
    throw new RangeError(`Cannot read ${place}: a step has one key, and ties and until beside look`)
  const [act, value] = entry
  const fields = asRecord(value) ?? {}
  const target = (text: unknown): Target => targetOf(String(text), namespace)
  switch (act) {
    case 'node':
      return [create(nodeOf(fields))]
    case 'pod':
      return [create(podOf(fields, namespace))]
    case 'create':
      return [create({ object: inNamespace(fields, namespace) })]
    case 'patch':
    case 'status':
      // These are pairs of a target and its patch.
      return Object.entries(fields).map(([text, patch]) => ({
        act,
        target: target(text),
        patch: asRecord(patch) ?? {},
      }))
    case 'delete':
      return (Array.isArray(value) ? value : [value]).map((text) => ({ act, target: target(text) }))
    case 'look': {
      const { until = '' } = asRecord(step) ?? {}
      return [{ act, title: String(value), ties: tiesOf(step), until: String(until) }]
    }
    default:
      throw new RangeError(`Cannot read ${place}: there is no step "${act}"`)
  }
}

function create({ object, status, isHeld = false }: Partial<PodStep> & { object: Manifest }): Step {
  return { act: 'create', object, status, isHeld }
}

function inNamespace(fields: Readonly<Record<string, unknown>>, namespace: string): Manifest {
  const { isNamespaced } = kindOf(String(fields['kind']))
  // A manifest has at least a name.
  const metadata = { ...(isNamespaced ? { namespace } : {}), ...asRecord(fields['metadata']) }
  const { apiVersion } = kindOf(String(fields['kind']))
  return { apiVersion, ...fields, kind: String(fields['kind']), metadata }
}

/** Parses `Kind/name` or `Kind/namespace/name`. */
function targetOf(text: string, ownNamespace: string): Target {
  const [kind = '', ...rest] = text.split('/')
  const name = rest.at(-1) ?? ''
  const namespace = rest.length > 1 ? (rest[0] ?? '') : ownNamespace
  return { kind, name, namespace: kindOf(kind).isNamespaced ? namespace : '' }
}

function tiesOf(step: unknown): Ties {
  const ties = asRecord(asRecord(step)?.['ties']) ?? {}
  return Object.fromEntries(
    Object.entries(ties).map(([pod, nodes]) => [
      pod,
      Array.isArray(nodes) ? nodes.map(String) : [],
    ]),
  )
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // Any JSON object may be indexed by a string.
  return value as Readonly<Record<string, unknown>>
}
