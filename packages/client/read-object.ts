import { isJsonObject, type KubeList, type KubeObject, type ObjectMeta } from '@skerry/api'
import { clientLimits } from './limits-table.ts'

/**
 * Checks the metadata of an object that a server sent; caches rely on it. A numeric resourceVersion, for example, would
 * never compare as older. Other fields are not checked. Throws Error.
 */
export function readObject<T extends KubeObject>(value: unknown): T {
  if (!isJsonObject(value)) throw fault('it is not an object')
  readMetadata(value['metadata'])
  // The server answers with the type that the path names; the caller guarantees that it is T.
  return value as unknown as T
}

/** Checks a page of a list, and each object as readObject() does. Throws Error. */
export function readList<T extends KubeObject>(value: unknown): KubeList<T> {
  if (!isJsonObject(value)) throw fault('it is not a list')
  const { kind, apiVersion, metadata = {}, items } = value
  if (!isJsonObject(metadata)) throw fault('metadata is not an object')
  if (items !== undefined && items !== null && !Array.isArray(items)) {
    throw fault('items is not a list')
  }
  for (const name of ['resourceVersion', 'continue']) checkText(metadata, name)
  const read = (items ?? []).map((item: unknown) => readObject<T>(item))
  // The fields were checked above.
  return {
    ...value,
    kind: text(kind),
    apiVersion: text(apiVersion),
    metadata,
    items: read,
  } as KubeList<T>
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const texts = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'generateName',
] satisfies readonly (keyof ObjectMeta)[]

function readMetadata(metadata: unknown): void {
  if (!isJsonObject(metadata)) throw fault('metadata is not an object')
  for (const name of texts) checkText(metadata, name)
  for (const name of ['labels', 'annotations']) {
    const map = metadata[name] ?? {}
    if (!isJsonObject(map) || !Object.values(map).every(isText)) {
      throw fault(`metadata.${name} is not a map of texts`)
    }
  }
  const { finalizers = [], ownerReferences = [] } = metadata
  if (!isListOf(finalizers, isText)) throw fault('metadata.finalizers is not a list of texts')
  if (!isListOf(ownerReferences, isJsonObject)) {
    throw fault('metadata.ownerReferences is not a list of objects')
  }
}

/** Accepts null: Go writes it for unset times. */
function checkText(metadata: Readonly<Record<string, unknown>>, name: string): void {
  const value = metadata[name]
  if (value !== undefined && value !== null && !isText(value)) {
    throw fault(`metadata.${name} is not a text`)
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isListOf(value: unknown, is: (item: unknown) => boolean): boolean {
  return value === null || (Array.isArray(value) && value.every(is))
}

function fault(what: string): Error {
  return new Error(`Cannot read answer: ${what}`)
}

/** Throws an Error if a list is longer than any real one. */
export function checkListLength(objects: number): void {
  const { listObjectsMax } = clientLimits
  if (objects > listObjectsMax) {
    throw new Error(`Cannot read list: the server names more than ${listObjectsMax} objects`)
  }
}
