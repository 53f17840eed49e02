import { isJsonObject, type AnyObject } from '@skerry/api'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { decodeBody } from '@skerry/bodies'

/** A text with objects in YAML or JSON. */
export interface Manifest {
  /** Names the text in messages. */
  readonly name: string
  readonly text: string
}

/** An object of a manifest, and its place for messages. */
export interface ManifestObject {
  readonly place: string
  readonly object: AnyObject
}

/**
 * Returns the objects in manifests, namespaces and definitions of kinds first. Throws an ExpectedError that names the
 * text and the document.
 */
export function manifestObjects(
  manifests: readonly Manifest[],
  objectsMax: number,
): ManifestObject[] {
  const objects = manifests.flatMap(({ name, text }) => objectsOf(name, text))
  if (objects.length > objectsMax) {
    throw wrong('the manifests', `they have ${objects.length} objects, and may have ${objectsMax}`)
  }
  const places = new Map<string, string>()
  for (const { place, object } of objects) {
    const key = objectKey(object)
    const before = places.get(key)
    if (before !== undefined) throw wrong(place, `${objectText(object)} is in ${before} as well`)
    places.set(key, place)
  }
  return objects.toSorted((a, b) => rankOf(a.object) - rankOf(b.object))
}

/** Splits a text at lines of three dashes, as kubectl does. */
function objectsOf(name: string, text: string): ManifestObject[] {
  const documents = text.split(/^---(?:[ \t].*)?\r?$/m)
  return documents.flatMap((document, at) => {
    if (!/^[ \t]*[^#\s]/m.test(document)) return []
    const place = `${name}, document ${at + 1}`
    return listed(valueOf(place, document), place).map((object) => ({ place, object }))
  })
}

function valueOf(place: string, text: string): unknown {
  try {
    return decodeBody(Buffer.from(text), 'application/yaml').value
  } catch (error) {
    throw wrong(place, messageOf(error))
  }
}

/** Returns the object, or those of a List. */
function listed(value: unknown, place: string): AnyObject[] {
  if (!isJsonObject(value)) throw wrong(place, 'it is not an object')
  const { kind, items } = value
  if (kind === 'List' && Array.isArray(items)) {
    return items.flatMap((item: unknown) => listed(item, place))
  }
  const { apiVersion, metadata } = value
  const name = isJsonObject(metadata) ? metadata['name'] : undefined
  for (const [field, text] of Object.entries({ apiVersion, kind, 'metadata.name': name })) {
    if (typeof text !== 'string' || text === '') throw wrong(place, `${field} is missing`)
  }
  // The fields were checked just now.
  return [value as unknown as AnyObject]
}

const first = ['Namespace', 'CustomResourceDefinition']

function rankOf({ kind }: AnyObject): number {
  const at = first.indexOf(kind)
  return at === -1 ? first.length : at
}

/** Formats `Deployment shop/web`. */
export function objectText({ kind, metadata }: Pick<AnyObject, 'kind' | 'metadata'>): string {
  const { namespace, name = '' } = metadata
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/** Identifies an object among all kinds. The version does not count: a manifest may go on to a newer one. */
export function objectKey({
  apiVersion,
  kind,
  metadata: { namespace = '', name = '' },
}: Pick<AnyObject, 'apiVersion' | 'kind' | 'metadata'>): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  return `${group} ${kind} ${namespace}/${name}`
}

function wrong(place: string, why: string): ExpectedError {
  return new ExpectedError(`Cannot apply ${place}: ${why}`, exitCodes.usage)
}
