/**
 * manifests: objects in YAML that are kept in a cluster. They are applied by server-side apply, and what no manifest has any
 * more is removed again, by an inventory in the cluster. It knows neither files nor machines.
 * Start reading at apply-manifests.ts.
 */
export { applyManifests, entriesIn, inventoryNamespace, type Inventory } from './apply-manifests.ts'
export { manifestObjects, objectKey, type ManifestObject } from './manifest-objects.ts'
