import { StatusError, isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import type { ClusterClient, ResourceClient, TypedResource } from '@skerry/client'
import { parse } from 'yaml'

/** A client's first request, and how it changes the object afterwards. */
export interface AdmissionCase {
  readonly name: string
  readonly object: JsonObject & { readonly kind: string; readonly metadata?: JsonObject }
  /** A merge patch. */
  readonly update?: JsonObject
}

export interface AdmissionAnswer {
  readonly name: string
  readonly created?: JsonObject
  readonly updated?: JsonObject
  /** The refusal of the last request. */
  readonly refused?: { readonly code: number; readonly message: string }
}

const policy = { group: 'policy.karmada.io', version: 'v1alpha1' }
const binding = { group: 'work.karmada.io', version: 'v1alpha2' }
const config = { group: 'config.karmada.io', version: 'v1alpha1', isNamespaced: false }

const resources: Readonly<Record<string, TypedResource<AnyObject>>> = {
  PropagationPolicy: { ...policy, resource: 'propagationpolicies', isNamespaced: true },
  ClusterPropagationPolicy: {
    ...policy,
    resource: 'clusterpropagationpolicies',
    isNamespaced: false,
  },
  OverridePolicy: { ...policy, resource: 'overridepolicies', isNamespaced: true },
  ClusterOverridePolicy: { ...policy, resource: 'clusteroverridepolicies', isNamespaced: false },
  ClusterTaintPolicy: { ...policy, resource: 'clustertaintpolicies', isNamespaced: false },
  ResourceBinding: { ...binding, resource: 'resourcebindings', isNamespaced: true },
  ClusterResourceBinding: { ...binding, resource: 'clusterresourcebindings', isNamespaced: false },
  ResourceInterpreterCustomization: { ...config, resource: 'resourceinterpretercustomizations' },
  ResourceInterpreterWebhookConfiguration: {
    ...config,
    resource: 'resourceinterpreterwebhookconfigurations',
  },
  Work: { group: 'work.karmada.io', version: 'v1alpha1', resource: 'works', isNamespaced: true },
}

/** The namespace of the cases' Works. */
export const caseNamespace = 'karmada-es-east'

export function readCases(text: string): AdmissionCase[] {
  return parse(text) as AdmissionCase[] // a file of ours
}

/** Asks one after the other, as some look at others; `settle` waits until a server has seen its own writes. */
export async function answersOf(
  cases: readonly AdmissionCase[],
  cluster: ClusterClient,
  signal: AbortSignal,
  settle: () => Promise<void> = async () => undefined,
): Promise<AdmissionAnswer[]> {
  const answers: AdmissionAnswer[] = []
  for (const [at, each] of cases.entries()) {
    const resource = resources[each.object.kind]
    if (!resource) throw new RangeError(`Cannot ask ${each.name}: ${each.object.kind} is unknown`)
    const name = `case-${at}`
    const { group, version, isNamespaced } = resource
    const namespace = isNamespaced ? { namespace: 'default' } : {}
    const object: AnyObject = {
      apiVersion: `${group}/${version}`,
      ...each.object,
      metadata: { name, ...namespace, ...each.object.metadata },
    }
    answers.push(await answerOf({ ...each, object }, cluster.resource(resource), signal))
    await settle()
  }
  return answers
}

async function answerOf(
  { name, object, update }: Pick<AdmissionCase, 'name' | 'update'> & { object: AnyObject },
  client: ResourceClient<AnyObject>,
  signal: AbortSignal,
): Promise<AdmissionAnswer> {
  let answer: AdmissionAnswer = { name }
  try {
    const created = await client.create(object, signal)
    answer = { ...answer, created: shown(created) }
    if (!update) return answer
    const { namespace, name: of = '' } = created.metadata
    const key = { name: of, ...(namespace === undefined ? {} : { namespace }) }
    const updated = await client.patch({ ...key, type: 'merge', patch: update }, signal)
    return { ...answer, updated: shown(updated) }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { ...answer, refused: { code: error.code, message: error.message } }
  }
}

const uid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

/** Removes the fields that differ each time. */
function shown(object: AnyObject): JsonObject {
  const { labels, annotations, finalizers, generation } = object.metadata
  const metadata = { labels, annotations, finalizers, generation }
  const text = JSON.stringify({ ...object, metadata }).replaceAll(uid, '<uid>')
  return JSON.parse(text) as JsonObject // it was made of an object
}

/**
 * An answer as two servers can give it alike: what a webhook refuses is invalid here (422 for 403), and
 * values in a message are printed with their fields in any order.
 */
export function saidOf({ refused, ...answer }: AdmissionAnswer): JsonObject {
  if (!refused) return answer
  const text = refused.message
    .replace(
      /^(?:admission webhook "[^"]+" denied the request: |\S+ "[^"]+" is (?:invalid|forbidden): )/,
      '',
    )
    .replace(/^(?:metadata\.labels|spec\.schedulerName): Forbidden: /, '')
  const message = text.replaceAll(
    /Invalid value: ([[{].*?[\]}]): (?=[a-zA-Z])/g,
    (whole, value) => {
      return `Invalid value: ${sortedJson(String(value)) ?? whole}: `
    },
  )
  return { ...answer, refused: message }
}

function sortedJson(text: string): string | undefined {
  try {
    return encodeSorted(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function encodeSorted(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
