import { StatusError, type KubeObject } from '@skerry/api'
import type { AuthorizedRequest, Route } from '@skerry/apiserver'
import type { ClusterClient, TypedResource } from '@skerry/client'
import { jsonAnswer, readJsonBody } from '@skerry/console-api'
import { clusterResource } from '@skerry/fleet-kinds'
import {
  clusterOverridePolicyResource,
  clusterPropagationPolicyResource,
  overridePolicyResource,
  propagationPolicyResource,
} from '@skerry/karmada-kinds'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubBounds } from '../limits-table.ts'
import { asksAsUser, hubOf, notAllowed } from './user-hub.ts'

const previewPath = '/hub/v1/policy-preview'
const doing = 'preview a policy'
const { bodyBytesMax, replicasMax } = hubBounds.policyPreview

const propagation = {
  PropagationPolicy: propagationPolicyResource,
  ClusterPropagationPolicy: clusterPropagationPolicyResource,
} as const
const overrides = {
  OverridePolicy: overridePolicyResource,
  ClusterOverridePolicy: clusterOverridePolicyResource,
} as const

/**
 * Shows which clusters a policy is for: GET for one that is stored, POST for one in the body, which the server checks as
 * in a dry run of its apply. Everything is read with the asker's own rights.
 */
export function previewRoute(hub: OpenHub): Route {
  return {
    prefix: previewPath,
    matches: ({ path }) => path === previewPath,
    async serve(admitted) {
      const { info, user, signal } = admitted
      if (info.method !== 'GET' && info.method !== 'POST') throw notAllowed()
      const kind = info.query.get('kind') ?? ''
      const replicas = readReplicas(info.query.get('replicas') ?? '')
      return jsonAnswer(
        200,
        await previewOf(hubOf(hub, user), kind, { admitted, replicas }, signal),
      )
    },
  }
}

export const previewAuthorizer = asksAsUser(['get', 'post'], (path) => path === previewPath)

interface Asked {
  readonly admitted: AuthorizedRequest
  readonly replicas: number | undefined
}

async function previewOf(
  hub: ClusterClient,
  kind: string,
  { admitted, replicas }: Asked,
  signal: AbortSignal,
): Promise<object> {
  // The rules of propagation are imported with the first question: most hubs are never asked.
  const allClusters = async () => (await hub.resource(clusterResource).list({}, signal)).items
  if (isKeyOf(propagation, kind)) {
    const policy = await policyOf(hub, { resource: propagation[kind], kind }, admitted, signal)
    const { previewPlacement } = await import('@skerry/propagation')
    return { placement: previewPlacement(policy, await allClusters(), replicas) }
  }
  if (isKeyOf(overrides, kind)) {
    const policy = await policyOf(hub, { resource: overrides[kind], kind }, admitted, signal)
    const { previewOverrides } = await import('@skerry/propagation')
    return { rules: previewOverrides(policy, await allClusters()) }
  }
  const kinds = [...Object.keys(propagation), ...Object.keys(overrides)]
  throw refused(`kind must be one of ${kinds.join(', ')}`)
}

function isKeyOf<Table extends object>(table: Table, key: string): key is keyof Table & string {
  return Object.hasOwn(table, key)
}

interface PolicyKind<Policy extends KubeObject> {
  readonly resource: TypedResource<Policy>
  readonly kind: string
}

/** Resolves with a policy that the server has checked. */
async function policyOf<Policy extends KubeObject>(
  hub: ClusterClient,
  { resource, kind }: PolicyKind<Policy>,
  { request, info: { method, query } }: AuthorizedRequest,
  signal: AbortSignal,
): Promise<Policy> {
  const [name, namespace] = [query.get('name') ?? '', query.get('namespace') ?? '']
  if (name === '' || (resource.isNamespaced && namespace === '')) {
    throw refused('name the policy by name, and by namespace if its kind has one')
  }
  const key = { name, ...(resource.isNamespaced ? { namespace } : {}) }
  if (method === 'GET') return hub.resource(resource).get(key, signal)
  const { spec, ...others } = await readJsonBody(request, { doing, bytesMax: bodyBytesMax })
  const { group, version: apiVersion } = resource
  if (others['kind'] !== kind) throw refused(`the body must be a ${kind}`)
  const patch = { apiVersion: `${group}/${apiVersion}`, kind, metadata: key, spec }
  return hub.resource(resource).patch(
    {
      ...key,
      type: 'apply',
      patch,
      force: true,
      isDryRun: true,
      fieldManager: 'skerry-console',
    },
    signal,
  )
}

function readReplicas(text: string): number | undefined {
  if (text === '') return undefined
  const replicas = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (replicas >= 1 && replicas <= replicasMax) return replicas
  throw refused(`replicas must be a whole number from 1 to ${replicasMax}`)
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot ${doing}: ${why}`)
}
