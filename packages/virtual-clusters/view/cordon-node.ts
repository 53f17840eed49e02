import { equalJson, isJsonObject, StatusError, type JsonObject } from '@skerry/api'
import type { TunnelResponse } from '@skerry/tunnel'
import { fieldAt } from '@skerry/fleet-kinds'
import { readOnly, sightOf, type Asked } from './asked-view.ts'
import { jsonRequest, readJson, readRequest } from './edge-calls.ts'
import { shownOnce } from './read-view.ts'
import { memberTarget } from './view-target.ts'

/**
 * Cordons a node, which is the only change that a virtual cluster may make to it: labels, names and
 * annotations determine a node's group, here and in the edge's own group controllers, and taints move the
 * edge's own pods. The request runs as a dry run, is compared with the present node, and reaches the node as
 * that one field.
 */
export async function cordonNode(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const { info, view, request } = asked
  const { clusterName } = view.group
  if (info.subresource !== '') throw readOnly(info, clusterName)
  const trial = jsonRequest(request, {
    path: memberTarget(info, { query: { dryRun: 'All' } }),
    body: await readRequest(request),
    accept: 'application/json',
  })
  const tried = await view.asUser(trial, signal)
  if (tried.status !== 200) return shown(asked, tried)
  const wanted = await readJson(tried)
  const path = memberTarget({ ...info, query: new URLSearchParams() })
  const there = await view.asUser(jsonRequest(request, { method: 'GET', path }), signal)
  const node = await readJson(there)
  if (there.status !== 200 || !isJsonObject(node) || !isJsonObject(wanted)) {
    throw readOnly(info, clusterName)
  }
  if (!equalJson(fixedOf(node), fixedOf(wanted))) {
    const why = `virtual cluster "${clusterName}" may only cordon its nodes; only the edge cluster's operator may change them otherwise`
    throw new StatusError('Forbidden', `nodes "${info.name}" is forbidden: ${why}`)
  }
  const unschedulable = fieldAt(wanted, 'spec', 'unschedulable') ?? null
  const patch = { spec: { unschedulable } }
  const headers = { ...request.headers, 'content-type': 'application/merge-patch+json' }
  const cordon = jsonRequest(
    { ...request, headers },
    {
      method: 'PATCH',
      path: memberTarget(withPatchQuery(info)),
      body: Buffer.from(JSON.stringify(patch)),
    },
  )
  return shown(asked, await view.asUser(cordon, signal))
}

/** Keeps the parameters of the client's write that a merge patch has, too. */
function withPatchQuery(info: Asked['info']): Asked['info'] {
  const kept = [...info.query].filter(([name]) => name === 'dryRun' || name === 'fieldManager')
  return { ...info, query: new URLSearchParams(kept) }
}

/** Removes the field of a cordon, and fields that an API server maintains. */
function fixedOf(node: JsonObject): JsonObject {
  const { metadata, spec, status: _status, ...rest } = node
  const {
    resourceVersion: _version,
    generation: _generation,
    managedFields: _fields,
    ...kept
  } = isJsonObject(metadata) ? metadata : {}
  const { unschedulable: _cordoned, ...bare } = isJsonObject(spec) ? spec : {}
  return { ...rest, metadata: kept, spec: bare }
}

function shown(asked: Asked, answer: TunnelResponse): Promise<TunnelResponse> {
  return shownOnce(
    asked,
    sightOf(asked, () => true),
    answer,
  )
}
