import type { AnyObject, GroupVersionKind, Kind } from '@skerry/api'
import type { RequestVersions, ServedResource } from '../contract/admission.ts'
import { conversions } from './conversion-table.ts'
import { typedObject } from './decode.ts'
import { apiVersionOf, type KindReader } from './kind-reader.ts'
import type { RequestDeps, RequestScope } from './request-scope.ts'

/** Returns the kind of a request's body. */
export function objectKindOf(kind: Kind, subresource: string): GroupVersionKind {
  if (subresource === '') return kind
  return kind.subresources.find(({ name }) => name === subresource)?.kind ?? kind
}

/** Finds and converts one request's objects in the other served versions. */
export function requestVersions(scope: RequestScope, deps: RequestDeps): RequestVersions {
  const { reader, subresource } = scope
  const { kind } = reader
  const siblings = (): KindReader[] => deps.kinds.sharing(reader.storage)
  const readerOf = ({ group, version }: GroupVersionKind): KindReader | undefined =>
    siblings().find((other) => other.kind.group === group && other.kind.version === version)
  const isOfKind = (object: AnyObject): boolean =>
    object.kind === kind.kind && readerOf(groupVersionKindOf(object)) !== undefined
  return {
    equivalents: () =>
      siblings()
        .filter((other) => other.kind !== kind && serves(other.kind, subresource))
        .map((other) => servedAs(other.kind, subresource)),
    async convert(object, wanted) {
      if (object.apiVersion === apiVersionOf(wanted.group, wanted.version)) return object
      const [from, to] = [readerOf(groupVersionKindOf(object)), readerOf(wanted)]
      // A subresource's own kind (Scale, Binding, …) is the same whatever its parent's version.
      if (!from || !to || !isOfKind(object)) return object
      return convertBetween(object, { from, to, signal: scope.signal })
    },
    conform(object, wanted) {
      const of = object.kind === kind.kind ? readerOf(wanted) : undefined
      if (!of) return object
      return typedObject(object, [], {
        kind: of.kind,
        fieldValidation: 'Ignore',
        warn: () => undefined,
      })
    },
    findKind: (apiVersion, name) =>
      deps.kinds
        .all()
        .find((any) => any.kind === name && apiVersionOf(any.group, any.version) === apiVersion),
  }
}

function serves(kind: Kind, subresource: string): boolean {
  return subresource === '' || kind.subresources.some(({ name }) => name === subresource)
}

function servedAs(kind: Kind, subresource: string): ServedResource {
  const { group, version, resource } = kind
  return { resource: { group, version, resource }, kind: objectKindOf(kind, subresource) }
}

function groupVersionKindOf({ apiVersion, kind }: AnyObject): GroupVersionKind {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  return { group, version: apiVersion.slice(slash + 1), kind }
}

async function convertBetween(
  object: AnyObject,
  { from, to, signal }: { from: KindReader; to: KindReader; signal: AbortSignal },
): Promise<AnyObject> {
  if (to.convertObjects) {
    const [converted] = await to.convertObjects([object], to.apiVersion, signal)
    return converted ?? object
  }
  const copy = structuredClone(object)
  conversions[`${from.apiVersion}/${from.kind.kind}`]?.toStorage(copy)
  conversions[`${to.apiVersion}/${to.kind.kind}`]?.fromStorage(copy)
  copy.apiVersion = to.apiVersion
  return copy
}
