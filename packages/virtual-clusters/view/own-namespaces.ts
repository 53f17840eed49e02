import { isJsonObject, StatusError, type AnyObject, type Namespace } from '@skerry/api'
import type { TunnelResponse } from '@skerry/tunnel'
import { memberOf, sightOf, type Asked } from './asked-view.ts'
import { jsonAnswer, jsonRequest, readJson } from './edge-calls.ts'
import { memberBody, readObject } from './member-body.ts'
import { shownOnce } from './read-view.ts'
import { shownAnswer } from './shown-answer.ts'
import { mayDo } from './user-rights.ts'
import { memberTarget } from './view-target.ts'

/**
 * Creates a namespace of the virtual cluster with the agent's own rights, because only the agent may set the
 * owner of a namespace. The edge's RBAC is asked first whether the user may create namespaces.
 */
export async function createNamespace(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const { view, request, info } = asked
  const sent = await readObject(asked)
  const { name } = isJsonObject(sent['metadata']) ? sent['metadata'] : {}
  if (typeof name !== 'string' || name === '') throw nameless()
  const body = memberBody(asked, sent, false)
  const { headers } = request
  const question = { headers, verb: 'create', resource: info.resource, namespace: '' }
  if (!(await mayDo(view.asAgent, question, signal))) throw mayNotCreate()
  const path = memberTarget(info)
  const answer = await view.asAgent(jsonRequest(request, { path, body }), signal)
  return shownNamespace(asked, { member: memberOf(view, name), name }, answer)
}

/** Creates `default` when a client first writes to it. Every cluster has it from the start. */
export async function ensureDefault({ view, info }: Asked, signal: AbortSignal): Promise<void> {
  const { namespace, resource } = info
  if (namespace !== 'default' || resource.resource === 'namespaces') return
  if (await view.edge.findOwner(memberOf(view, 'default'), signal)) return
  const metadata = { name: 'default' }
  const object: AnyObject = view.mapping.toMember({ apiVersion: 'v1', kind: 'Namespace', metadata })
  const answer = await view.asAgent(
    {
      method: 'POST',
      path: '/api/v1/namespaces',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(object)),
    },
    signal,
  )
  // Another client may have created it meanwhile. The request itself reports any other error.
  await readJson(answer)
}

async function shownNamespace(
  asked: Asked,
  { member, name }: { member: string; name: string },
  answer: TunnelResponse,
): Promise<TunnelResponse> {
  const { clusterName } = asked.view.group
  const names = {
    clusterName,
    namespace: (known: string) => (known === member ? name : asked.names.namespace(known)),
  }
  const content = await readJson(answer)
  if (!isJsonObject(content))
    return shownOnce(
      asked,
      sightOf(asked, () => true),
      answer,
    )
  const isStored = answer.status === 201 && asked.info.query.get('dryRun') === null
  // The server answers a write of a Namespace with one, unless a Table was asked for.
  if (isStored && content['kind'] === 'Namespace') {
    asked.view.edge.recordNamespace(content as unknown as Namespace)
  }
  const sight = { ...sightOf(asked, () => true), names }
  return jsonAnswer(asked.request, answer, await shownAnswer(content, sight))
}

function nameless(): StatusError {
  const text =
    'Namespace is invalid: metadata.name: Required value: a virtual cluster makes no names of namespaces'
  return new StatusError('Invalid', text)
}

function mayNotCreate(): StatusError {
  const text =
    'namespaces is forbidden: the edge cluster does not let you create resource "namespaces" in API group "" at the cluster scope'
  return new StatusError('Forbidden', text, { details: { kind: 'namespaces' } })
}
