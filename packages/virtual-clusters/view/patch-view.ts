import { equalJson, isJsonObject, StatusError, type JsonObject } from '@skerry/api'
import type { TunnelResponse } from '@skerry/tunnel'
import { fieldAt, textAt } from '@skerry/fleet-kinds'
import { memberOf, sightOf, type Asked } from './asked-view.ts'
import { jsonRequest, readJson, readRequest } from './edge-calls.ts'
import { assignedValue, carriesForeignKind, memberBody, readObject } from './member-body.ts'
import { ensureDefault } from './own-namespaces.ts'
import { shownOnce } from './read-view.ts'
import { shownObject } from './shown-object.ts'
import { memberTarget } from './view-target.ts'
import { viewLimits } from '../limits-table.ts'

const applyType = 'application/apply-patch+yaml'
const jsonPatchType = 'application/json-patch+json'

/**
 * Tries the patch as a dry run, because only the whole object shows which parts have another form at the
 * edge. If none has, sends the patch itself; else sends the resulting object, mapped, which needs the right
 * to update.
 */
export async function patchObject(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const type = String(asked.request.headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
  if (type === applyType) return applyObject(asked, signal)
  const patch = await readRequest(asked.request)
  if (carriesForeignKind(asked)) return sendPatch(asked, patch, signal)
  for (let attempt = 1; ; attempt += 1) {
    const tried = await asked.view.asUser(dryRun(asked, patch), signal)
    if (tried.status !== 200) return shown(asked, tried)
    const result = await readJson(tried)
    if (!isJsonObject(result)) throw notUnderstood()
    const assigned = await assignedValue(asked, result, signal)
    const wanted =
      wantedOf(asked, result, assigned) ?? (copiesFields(type, patch) ? bare(result) : undefined)
    if (wanted === undefined) return sendPatch(asked, patch, signal)
    const request = jsonRequest(asked.request, { method: 'PUT', path: pathOf(asked), body: wanted })
    const answer = await asked.view.asUser(request, signal)
    const mayRepeat = answer.status === 409 && attempt < viewLimits.patchAttemptsMax
    if (!mayRepeat) return shown(asked, answer)
    // The next dry run reports it if the patch needs a version that no longer exists.
    await readJson(answer)
  }
}

/**
 * Reports whether the patch copies or moves fields. If the object changes meanwhile, such a patch may produce
 * something other than the dry run did, so the result of the dry run is sent instead, with its
 * resourceVersion.
 */
function copiesFields(type: string | undefined, patch: Uint8Array): boolean {
  if (type !== jsonPatchType) return false
  // The dry run succeeded, so the edge has read it as a list of operations.
  const operations: unknown = JSON.parse(Buffer.from(patch).toString('utf8'))
  return (
    !Array.isArray(operations) ||
    operations.some((each) => ['copy', 'move'].includes(textAt(each, 'op')))
  )
}

/** Returns undefined if the edge may get the patch as it is. */
function wantedOf(asked: Asked, result: JsonObject, assigned: unknown): JsonObject | undefined {
  const { info, names } = asked
  const of = { group: info.resource.group, kind: textAt(result, 'kind') }
  const mapped = memberBody(asked, shownObject(bare(result), of, names), assigned)
  const wanted = { ...mapped, ...keptOf(result) }
  return equalJson(wanted, bare(result)) ? undefined : wanted
}

/** Removes the managed fields: the edge records them again. */
function bare(object: JsonObject): JsonObject {
  const { metadata } = object
  if (!isJsonObject(metadata)) return object
  const { managedFields: _, ...rest } = metadata
  return { ...object, metadata: rest }
}

/** A status is not what a patch of the object is about. */
function keptOf(result: JsonObject): JsonObject {
  const status = fieldAt(result, 'status')
  return status === undefined ? {} : { status }
}

/** Server-side apply sends the wanted state as an object, which is mapped like any other. */
async function applyObject(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  await ensureDefault(asked, signal)
  const sent = await readObject(asked)
  const body = memberBody(asked, sent, await assignedValue(asked, sent, signal))
  return sendPatch(asked, Buffer.from(JSON.stringify(body)), signal)
}

async function sendPatch(
  asked: Asked,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<TunnelResponse> {
  const request = jsonRequest(asked.request, { path: pathOf(asked), body })
  return shown(asked, await asked.view.asUser(request, signal))
}

function dryRun(asked: Asked, body: Uint8Array) {
  const path = pathOf(asked, { dryRun: 'All' })
  return jsonRequest(asked.request, { path, body, accept: 'application/json' })
}

function shown(asked: Asked, answer: TunnelResponse): Promise<TunnelResponse> {
  return shownOnce(
    asked,
    sightOf(asked, () => true),
    answer,
  )
}

function pathOf(
  { view, info, member, seenAs }: Asked,
  query: Readonly<Record<string, string>> = {},
): string {
  return memberTarget(info, {
    ...(member === '' ? {} : { namespace: member }),
    ...(seenAs === 'namespaces' ? { name: memberOf(view, info.name) } : {}),
    query,
  })
}

function notUnderstood(): StatusError {
  const text = 'Cannot patch object of a virtual cluster: the edge cluster answered with no object'
  return new StatusError('InternalError', text)
}
