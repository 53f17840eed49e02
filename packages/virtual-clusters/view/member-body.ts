import { isJsonObject, StatusError, type AnyObject, type JsonObject } from '@skerry/api'
import { decodeBodyBy, objectOfBody } from '@skerry/bodies'
import { protobufType, readAnyProtobuf } from '@skerry/apiserver'
import { MappingRefusal } from '@skerry/cluster-agent'
import { fieldAt, withField, withoutField } from '@skerry/fleet-kinds'
import { namesAddresses } from '../mapping/external-addresses.ts'
import type { Asked } from './asked-view.ts'
import { jsonRequest, readJson, readRequest } from './edge-calls.ts'
import { memberTarget } from './view-target.ts'

/** The object that a request carries, in JSON, YAML or protobuf. Throws StatusError as decodeBody does. */
export async function readObject({
  request,
  view,
  signal,
}: Pick<Asked, 'request' | 'view' | 'signal'>): Promise<JsonObject> {
  const { 'content-type': types = 'application/json' } = request.headers
  const type = typeof types === 'string' ? types : types.join(',')
  const bytes = await readRequest(request)
  if (!type.startsWith(protobufType)) {
    const { yaml, group } = view
    const body = await decodeBodyBy(
      (text) => yaml.read(text, group.clusterName, signal),
      bytes,
      type,
    )
    return objectOfBody(body, bytes).object
  }
  const object = await readAnyProtobuf(bytes)
  if (object) return object
  throw new StatusError(
    'UnsupportedMediaType',
    'Cannot pass object to a virtual cluster: it is of no kind that is known in protobuf; send JSON',
  )
}

/**
 * Translates an object that a client of the virtual cluster writes into the edge cluster's form. `assigned`
 * is the value that `assignedValue` found, which stays; any other value in its place is the client's. Throws
 * StatusError BadRequest for another kind or namespace than the path's, and Forbidden with the reason if the
 * object cannot be in a virtual cluster.
 */
export function memberBody(
  { view, info, kind, member }: Asked,
  sent: JsonObject,
  assigned?: unknown,
): JsonObject {
  const { namespace: written } = metadataOf(sent)
  const isInNamespace = kind.isNamespaced
  if (isInNamespace && written !== undefined && written !== '' && written !== info.namespace) {
    throw otherNamespace()
  }
  if (carriesForeignKind({ info, kind })) {
    if (written === undefined || written === '') return sent
    return { ...sent, metadata: { ...metadataOf(sent), namespace: member } }
  }
  const object = named(withoutShownStatus(sent, info), { kind: kind.kind, ...info.resource })
  const placed: AnyObject = isInNamespace
    ? { ...object, metadata: { ...object.metadata, namespace: info.namespace } }
    : object
  try {
    return mapAssigned(placed, assigned, view.mapping.toMember)
  } catch (error) {
    if (!(error instanceof MappingRefusal)) throw error
    throw new StatusError('Forbidden', error.message, { cause: error })
  }
}

/**
 * Reports whether the path is a scale, an eviction or a token request, which name no other namespace. The
 * kind in the body does not count: API servers use the path's kind if the body has none.
 */
export function carriesForeignKind({ info, kind }: Pick<Asked, 'info' | 'kind'>): boolean {
  return kind.foreignSubresources.includes(info.subresource)
}

/** A write of the object itself leaves its status as it is, whatever addresses the edge has put there. */
function withoutShownStatus(
  sent: JsonObject,
  { resource, subresource }: Asked['info'],
): JsonObject {
  if (subresource !== '' || !namesAddresses(resource)) return sent
  const { status: _status, ...rest } = sent
  return rest
}

/** Fills in the kind that the path implies, which clients may leave out. */
function named(sent: JsonObject, of: { kind: string; group: string; version: string }): AnyObject {
  const apiVersion = of.group === '' ? of.version : `${of.group}/${of.version}`
  const { kind = of.kind, apiVersion: told = apiVersion } = sent
  if ((kind !== of.kind && kind !== '') || (told !== apiVersion && told !== '')) {
    const text = `the object provided is of kind ${String(told)} ${String(kind)}, and the path is of ${apiVersion} ${of.kind}`
    throw new StatusError('BadRequest', `Cannot pass object to a virtual cluster: ${text}`)
  }
  return { ...sent, apiVersion, kind: of.kind, metadata: metadataOf(sent) }
}

function metadataOf({ metadata }: JsonObject): Record<string, unknown> {
  if (metadata === undefined || metadata === null) return {}
  if (typeof metadata === 'object' && !Array.isArray(metadata)) return { ...metadata }
  throw new StatusError(
    'BadRequest',
    'Cannot pass object to a virtual cluster: its metadata is not an object',
  )
}

function otherNamespace(): StatusError {
  return new StatusError(
    'BadRequest',
    'the namespace of the provided object does not match the namespace sent on the request',
  )
}

/**
 * Fields that the edge assigns and nobody may change. Without this list mapping/ would refuse them as the
 * user's own.
 */
const assignedFields: Readonly<Record<string, readonly string[]>> = Object.freeze({
  Pod: ['spec', 'nodeName'],
  PersistentVolumeClaim: ['spec', 'volumeName'],
})

/**
 * Returns the value that the edge assigned to an object about to be written. Undefined if the edge assigned
 * none, or the object does not exist or has no name. The edge is asked as the user, because a client could
 * write the name of somebody else's volume, for example.
 */
export async function assignedValue(
  { view, info, kind, member, request }: Asked,
  sent: JsonObject,
  signal: AbortSignal,
): Promise<unknown> {
  const path = assignedFields[kind.kind]
  if (path === undefined || info.name === '' || fieldAt(sent, ...path) === undefined)
    return undefined
  const target = memberTarget(
    { ...info, subresource: '', query: new URLSearchParams() },
    { namespace: member },
  )
  const answer = await view.asUser(jsonRequest(request, { method: 'GET', path: target }), signal)
  const found = await readJson(answer)
  return answer.status === 200 && isJsonObject(found) ? fieldAt(found, ...path) : undefined
}

function mapAssigned(
  object: AnyObject,
  assigned: unknown,
  toMember: (object: AnyObject) => AnyObject,
): AnyObject {
  const path = assignedFields[object.kind]
  const value = path && fieldAt(object, ...path)
  if (path === undefined || value === undefined || value !== assigned) return toMember(object)
  return withField(toMember(withoutField(object, path)), path, value)
}
