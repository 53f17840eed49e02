import { decodeObjectBody, StatusError, type AnyObject, type JsonObject } from '@skerry/api'
import { protobufType, readAnyProtobuf } from '@skerry/apiserver'
import { fieldAt, textAt, withField, withoutField } from '../../interpreter/fields.ts'
import { MappingRefusal } from '../mapping/mapping-refusal.ts'
import type { Asked } from './asked-view.ts'
import { readRequest } from './edge-calls.ts'

/** The object that a request carries, in JSON, YAML or protobuf. Throws StatusError as decodeBody does. */
export async function readObject({ request }: Pick<Asked, 'request'>): Promise<JsonObject> {
  const { 'content-type': types = 'application/json' } = request.headers
  const type = typeof types === 'string' ? types : types.join(',')
  const bytes = await readRequest(request)
  if (!type.startsWith(protobufType)) return decodeObjectBody(bytes, type).object
  const object = await readAnyProtobuf(bytes)
  if (object) return object
  throw new StatusError(
    'UnsupportedMediaType',
    'Cannot pass object to a virtual cluster: it is of no kind that is known in protobuf; send JSON',
  )
}

/**
 * What a client of the virtual cluster writes, as it stands in the edge cluster. `isUpdate`: the object is
 * there already, so what the cluster has assigned to it stays. Throws StatusError BadRequest of another
 * kind or namespace than the path's, Forbidden with the reason of what cannot be in a virtual cluster.
 */
export function memberBody(
  { view, info, kind, member }: Asked,
  sent: JsonObject,
  isUpdate: boolean,
): JsonObject {
  const { namespace: written } = metadataOf(sent)
  const isInNamespace = kind.isNamespaced
  if (isInNamespace && written !== undefined && written !== '' && written !== info.namespace) {
    throw otherNamespace()
  }
  // A scale, an eviction, a token request: kinds of their own, which carry no other namespace.
  if (info.subresource !== '' && sent['kind'] !== kind.kind) {
    if (written === undefined || written === '') return sent
    return { ...sent, metadata: { ...metadataOf(sent), namespace: member } }
  }
  const object = named(sent, { kind: kind.kind, ...info.resource })
  const placed: AnyObject = isInNamespace
    ? { ...object, metadata: { ...object.metadata, namespace: info.namespace } }
    : object
  try {
    return isUpdate ? mapUpdate(placed, view.mapping.toMember) : view.mapping.toMember(placed)
  } catch (error) {
    if (!(error instanceof MappingRefusal)) throw error
    throw new StatusError('Forbidden', error.message, { cause: error })
  }
}

/** Of the kind that the path means, which clients may leave out. */
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
    'Cannot pass object to a virtual cluster: its metadata is no object',
  )
}

function otherNamespace(): StatusError {
  return new StatusError(
    'BadRequest',
    'the namespace of the provided object does not match the namespace sent on the request',
  )
}

/** What the edge has assigned, and nobody may change: mapping/ would take it for a wish. */
const assignedFields: Readonly<Record<string, readonly string[]>> = Object.freeze({
  Pod: ['spec', 'nodeName'],
  PersistentVolumeClaim: ['spec', 'volumeName'],
})

function mapUpdate(object: AnyObject, toMember: (object: AnyObject) => AnyObject): AnyObject {
  const path = assignedFields[object.kind]
  const value = path && fieldAt(object, ...path)
  if (path === undefined || value === undefined) return toMember(object)
  // Other names of volumes are those that the virtual cluster was sent, and mapped.
  const isWish =
    object.kind === 'PersistentVolumeClaim' && !textAt(object, ...path).startsWith('pvc-')
  if (isWish) return toMember(object)
  return withField(toMember(withoutField(object, path)), path, value)
}
