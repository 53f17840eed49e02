import type { AnyObject, JsonObject } from '@skerry/api'

/** Maps the manifests of a Work to its cluster. */
export interface ManifestMapping {
  /** The object that a manifest means. Throws an Error with the reason where it cannot be there. */
  readonly toMember: (manifest: AnyObject) => AnyObject
  /** The manifest under its name in the cluster: enough to find its object. Throws as `toMember` does. */
  readonly placeOf: (manifest: AnyObject) => AnyObject
  /** A status of the cluster's object as it is for the manifest. */
  readonly fromMember: (manifest: AnyObject, status: JsonObject) => JsonObject
}

/** A manifest means itself. */
export const asTheyAre: ManifestMapping = Object.freeze({
  toMember: (manifest: AnyObject) => manifest,
  placeOf: (manifest: AnyObject) => manifest,
  fromMember: (_manifest: AnyObject, status: JsonObject) => status,
})
