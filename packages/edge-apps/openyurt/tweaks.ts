import { cloneJson, isJsonObject, memberOf, StatusError, type JsonObject } from '@skerry/api'
import { applyJsonPatch } from '@skerry/bodies'
import type { TweakPatch, Tweaks } from './yurt-app-set.ts'

/** Stands for the name of the pool in the values of patches. */
const poolPlaceholder = '{{nodepool-name}}'

/**
 * Returns the workload with the differences of its pool: numbers and images in the order of the tweaks, then all patches.
 * Throws RangeError if a patch cannot be applied.
 */
export function withTweaks(
  original: JsonObject,
  tweaks: readonly Tweaks[],
  pool: string,
): JsonObject {
  const workload = cloneJson(original)
  const spec = objectAt(workload, 'spec')
  for (const { replicas, containerImages = [] } of tweaks) {
    if (replicas !== undefined) spec['replicas'] = replicas
    for (const { name, targetImage } of containerImages) setImage(spec, name, targetImage)
  }
  const patches = tweaks.flatMap(({ patches: some = [] }) => some)
  return patches.length === 0 ? workload : patched(workload, patches, pool)
}

function objectAt(owner: JsonObject, ...path: readonly string[]): JsonObject {
  let found = owner
  for (const step of path) {
    const next = memberOf(found, step)
    if (!isJsonObject(next)) throw new RangeError(`the template has no ${path.join('.')}`)
    found = next
  }
  return found
}

function setImage(spec: JsonObject, name: string, image: string): void {
  const podSpec = objectAt(spec, 'template', 'spec')
  for (const field of ['containers', 'initContainers']) {
    const containers = podSpec[field]
    if (!Array.isArray(containers)) continue
    for (const each of containers) {
      if (isJsonObject(each) && each['name'] === name) each['image'] = image
    }
  }
}

function patched(workload: JsonObject, patches: readonly TweakPatch[], pool: string): JsonObject {
  const steps = patches.map(({ operation, path, value }) => ({
    op: operation,
    path,
    ...(value === undefined ? {} : { value: named(value, pool) }),
  }))
  try {
    const result = applyJsonPatch(workload, steps)
    if (isJsonObject(result)) return result
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const { cause } = error
    const why = cause instanceof Error ? cause.message : error.message
    throw new RangeError(`a patch cannot be applied: ${why}`, { cause: error })
  }
  throw new RangeError('the patches leave no workload')
}

/** Puts the name of the pool into every text of a value. */
function named(value: unknown, pool: string): unknown {
  if (typeof value === 'string') return value.replaceAll(poolPlaceholder, pool)
  if (Array.isArray(value)) return value.map((each) => named(each, pool))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key.replaceAll(poolPlaceholder, pool),
      named(each, pool),
    ]),
  )
}
