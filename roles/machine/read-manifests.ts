import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { isJsonObject, type AnyObject } from '@skerry/api'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { decodeBody } from '@skerry/bodies'

const manifestsSchema = z.array(z.object({ name: z.string(), text: z.string() }))

/** An object of a manifest, and its place for messages. */
export interface ManifestObject {
  readonly place: string
  readonly object: AnyObject
}

/**
 * Reads a JSON file of named texts and returns the objects in them, namespaces and definitions of kinds first.
 * Rejects with an ExpectedError that names the text and the document.
 */
export async function readManifests(path: string, objectsMax: number): Promise<ManifestObject[]> {
  const objects = (await readTexts(path)).flatMap(({ name, text }) => objectsOf(name, text))
  if (objects.length > objectsMax) {
    throw wrong('the manifests', `they have ${objects.length} objects, and may have ${objectsMax}`)
  }
  const places = new Map<string, string>()
  for (const { place, object } of objects) {
    const key = objectText(object)
    const before = places.get(key)
    if (before !== undefined) throw wrong(place, `${key} is in ${before} as well`)
    places.set(key, place)
  }
  return objects.toSorted((a, b) => rankOf(a.object) - rankOf(b.object))
}

async function readTexts(path: string): Promise<z.infer<typeof manifestsSchema>> {
  try {
    return manifestsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw wrong(path, why)
  }
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

function wrong(place: string, why: string): ExpectedError {
  return new ExpectedError(`Cannot apply ${place}: ${why}`, exitCodes.usage)
}
