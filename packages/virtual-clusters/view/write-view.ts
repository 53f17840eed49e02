import { StatusError } from '@skerry/api'
import type { TunnelRequest, TunnelResponse } from '@skerry/tunnel'
import { absentObject, memberOf, readOnly, sightOf, type Asked } from './asked-view.ts'
import { cordonNode } from './cordon-node.ts'
import { jsonRequest, readRequest } from './edge-calls.ts'
import { assignedValue, memberBody, readObject } from './member-body.ts'
import { createNamespace, ensureDefault } from './own-namespaces.ts'
import { patchObject } from './patch-view.ts'
import { edgeRequest, shownOnce } from './read-view.ts'
import { isReadOnly } from './seen-kinds-table.ts'
import { memberTarget } from './view-target.ts'

/** Answers what changes objects, as the person who asks; the edge's own RBAC decides. */
export async function writeObject(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const { info, view, seenAs, member, kind } = asked
  const { clusterName } = view.group
  const { verb, subresource } = info
  if (isReadOnly({ seenAs, verb, subresource })) throw readOnly(info, clusterName)
  if (seenAs === 'nodes') {
    refuseForeignNode(asked)
    if (verb === 'update' || verb === 'patch') return cordonNode(asked, signal)
    if (verb === 'delete') throw readOnly(info, clusterName)
  } else if (kind.isNamespaced && member === '') throw notAllowed()
  switch (verb) {
    case 'create':
      if (seenAs === 'namespaces' && info.name === '') return createNamespace(asked, signal)
      await ensureDefault(asked, signal)
      return send(asked, memberBody(asked, await readObject(asked)), signal)
    case 'update': {
      const sent = await readObject(asked)
      return send(asked, memberBody(asked, sent, await assignedValue(asked, sent, signal)), signal)
    }
    case 'patch':
      return patchObject(asked, signal)
    case 'delete':
      return remove(asked, signal)
    case 'deletecollection':
      if (seenAs !== undefined) throw notAllowed()
      return remove(asked, signal)
    default:
      throw notAllowed()
  }
}

/** Nodes may be cordoned, as RBAC has it; what else they are is the edge's to say. */
function refuseForeignNode({ view, info }: Asked): void {
  const { clusterName } = view.group
  if (info.name === '') throw readOnly(info, clusterName)
  if (!view.edge.isNodeOf(clusterName, info.name)) throw absentObject(info)
}

function send(asked: Asked, body: unknown, signal: AbortSignal): Promise<TunnelResponse> {
  const path = memberPath(asked)
  return answered(asked, jsonRequest(asked.request, { path, body }), signal)
}

/** With the options that the client sends, which name no namespace. */
async function remove(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const bytes = await readRequest(asked.request)
  const { path } = edgeRequest(asked)
  const body = bytes.length > 0 ? { body: await readObject(withBody(asked, bytes)) } : {}
  return answered(asked, jsonRequest(asked.request, { path, ...body }), signal)
}

function withBody(asked: Asked, body: Uint8Array): Asked {
  return { ...asked, request: { ...asked.request, body } }
}

async function answered(
  asked: Asked,
  request: TunnelRequest,
  signal: AbortSignal,
): Promise<TunnelResponse> {
  const answer = await asked.view.asUser(request, signal)
  return shownOnce(
    asked,
    sightOf(asked, () => true),
    answer,
  )
}

/** Where the edge has what the path names. */
function memberPath({ view, info, member, seenAs }: Asked): string {
  return memberTarget(info, {
    ...(member === '' ? {} : { namespace: member }),
    ...(seenAs === 'namespaces' && info.name !== '' ? { name: memberOf(view, info.name) } : {}),
  })
}

function notAllowed(): StatusError {
  const text = 'the server does not allow this method on the requested resource'
  return new StatusError('MethodNotAllowed', text)
}
