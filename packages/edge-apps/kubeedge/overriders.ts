import {
  changeImage,
  cloneJson,
  isJsonObject,
  type ImageChange,
  type JsonObject,
} from '@skerry/api'
import type { ManifestKind } from '../children/manifest-kinds-table.ts'
import type { EnvOverrider, Overriders, WordsOverrider } from './edge-application.ts'

/**
 * Returns the manifest with the differences of a group. Throws RangeError if an image cannot be read, or if a path leads to
 * no image.
 */
export function withOverriders(
  original: JsonObject,
  { podTemplate, hasReplicas = false }: ManifestKind,
  overriders: Overriders,
): JsonObject {
  const manifest = cloneJson(original)
  const { replicas } = overriders
  if (replicas !== undefined && hasReplicas && isJsonObject(manifest['spec'])) {
    manifest['spec']['replicas'] = replicas
  }
  const main = containersAt(manifest, 'containers', podTemplate)
  const containers = [...main, ...containersAt(manifest, 'initContainers', podTemplate)]
  for (const { predicate, ...change } of overriders.imageOverriders ?? []) {
    if (predicate) changeImageAt(manifest, predicate.path, change)
    else {
      // A place has one registry, but a tag or a repository of the application is none of its init containers'.
      const changed = change.component === 'Registry' ? containers : main
      for (const each of changed) changeImageOf(each, 'image', change)
    }
  }
  for (const each of overriders.envOverriders ?? []) {
    forNamed(containers, each, (container) =>
      setList(container, 'env', changedEnv(container, each)),
    )
  }
  for (const field of ['command', 'args'] as const) {
    for (const each of overriders[`${field}Overriders`] ?? []) {
      forNamed(containers, each, (container) =>
        setList(container, field, changedWords(container[field], each)),
      )
    }
  }
  for (const each of overriders.resourcesOverriders ?? []) {
    forNamed(containers, each, (container) => changeResources(container, cloneJson(each.value)))
  }
  return manifest
}

/** Replaces the named amounts; the others stay. */
function changeResources(container: JsonObject, value: JsonObject): void {
  const current = isJsonObject(container['resources']) ? container['resources'] : {}
  const changed: JsonObject = { ...current }
  for (const [section, amounts] of Object.entries(value)) {
    const known = current[section]
    const isMap = isJsonObject(known) && isJsonObject(amounts)
    changed[section] = isMap ? { ...known, ...amounts } : amounts
  }
  container['resources'] = changed
}

/** Returns the containers in this field of a template of pods, if there is one. */
function containersAt(
  manifest: JsonObject,
  field: 'containers' | 'initContainers',
  podTemplate: readonly string[] = [],
): JsonObject[] {
  if (podTemplate.length === 0) return []
  let found: unknown = manifest
  for (const step of [...podTemplate, 'spec', field]) {
    found = isJsonObject(found) ? found[step] : undefined
  }
  return listOf(found).filter(isJsonObject)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function forNamed(
  containers: readonly JsonObject[],
  { containerName }: { readonly containerName: string },
  change: (container: JsonObject) => void,
): void {
  for (const each of containers) if (each['name'] === containerName) change(each)
}

/** An empty list is the same as none. */
function setList(container: JsonObject, field: string, items: readonly unknown[]): void {
  if (items.length === 0) delete container[field]
  else container[field] = [...items]
}

function changedWords(
  current: unknown,
  { operator, value = [] }: WordsOverrider,
): readonly unknown[] {
  const words = listOf(current)
  if (operator === 'add') return [...words, ...value]
  const gone: ReadonlySet<unknown> = new Set(value)
  return words.filter((word) => !gone.has(word))
}

function changedEnv(container: JsonObject, { operator, value = [] }: EnvOverrider): JsonObject[] {
  const env = listOf(container['env']).filter(isJsonObject)
  if (operator === 'add') return [...env, ...value]
  const named = new Map(value.map((each) => [each['name'], each]))
  if (operator === 'remove') return env.filter(({ name }) => !named.has(name))
  const known = new Set(env.map(({ name }) => name))
  const added = value.filter(({ name }) => !known.has(name))
  return [...env.map((each) => named.get(each['name']) ?? each), ...added]
}

function changeImageOf(owner: JsonObject, field: string, change: ImageChange): void {
  const image = owner[field]
  if (typeof image !== 'string') throw new RangeError(`there is no image at "${field}"`)
  try {
    owner[field] = changeImage(image, change)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RangeError(`image "${image}" cannot be changed: ${error.message}`, { cause: error })
  }
}

/** Steps are taken literally: nothing is escaped in them. */
function changeImageAt(manifest: JsonObject, path: string, change: ImageChange): void {
  const steps = path.replace(/^\/+|\/+$/g, '').split('/')
  const field = steps.pop() ?? ''
  let found: unknown = manifest
  for (const step of steps) {
    if (Array.isArray(found)) found = /^\d{1,4}$/.test(step) ? found[Number(step)] : undefined
    else found = isJsonObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  if (!isJsonObject(found) || !Object.hasOwn(found, field)) {
    throw new RangeError(`there is no image at "${path}"`)
  }
  changeImageOf(found, field, change)
}
