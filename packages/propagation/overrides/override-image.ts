import { changeImage, isJsonObject, memberOf, type AnyObject } from '@skerry/api'
import { objectsAt, textAt } from '@skerry/fleet-kinds'
import type { ImageOverrider } from '@skerry/karmada-kinds'
import type { OverridePatch } from './patch-document.ts'
import { podContainersPath } from './pod-containers.ts'

/**
 * Returns the patches of an image overrider: for the image at its path, or for each container of a kind that
 * has pods. Init containers are changed by path only, as in Karmada. Throws Error if there is no image at the
 * path, or it cannot be parsed.
 */
export function imagePatches(object: AnyObject, overrider: ImageOverrider): OverridePatch[] {
  const path = overrider.predicate?.path
  if (path !== undefined) return [patchAt(path, imageAt(object, path), overrider)]
  const containers = podContainersPath(object)
  if (containers === undefined) return []
  return objectsAt(object, ...containers).map((container, at) =>
    patchAt(`/${containers.join('/')}/${at}/image`, textAt(container, 'image'), overrider),
  )
}

function patchAt(path: string, image: string, overrider: ImageOverrider): OverridePatch {
  if (!path.startsWith('/')) throw new Error('imagePath should be start with / character')
  return { operator: 'replace', path, value: overridden(image, overrider) }
}

function overridden(image: string, overrider: ImageOverrider): string {
  try {
    return changeImage(image, overrider)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Error(`failed to parse image value(${image}), error: ${error.message}`, {
      cause: error,
    })
  }
}

/** Steps are taken literally: nothing is escaped in them. */
function imageAt(object: AnyObject, path: string): string {
  const steps = path.replace(/^\/+|\/+$/g, '').split('/')
  const last = steps.pop() ?? ''
  let found: unknown = object
  for (const step of steps) {
    found = stepInto(found, step, path)
  }
  const image = isJsonObject(found) ? memberOf(found, last) : undefined
  if (typeof image === 'string') return image
  throw unobtainable(path, `failed to convert path(${last}) to string`)
}

function stepInto(value: unknown, step: string, path: string): unknown {
  if (Array.isArray(value)) {
    if (!/^[0-9]{1,9}$/.test(step)) {
      throw unobtainable(path, `path(${step}) of rawObj's is not number`)
    }
    return value[Number(step)]
  }
  const next = isJsonObject(value) ? memberOf(value, step) : undefined
  if (Array.isArray(next) || isJsonObject(next)) return next
  const why = `path(${step}) of rawObj's type is not map[string]interface{} and []interface{}`
  throw unobtainable(path, why)
}

function unobtainable(path: string, why: string): Error {
  return new Error(`failed to obtain imageValue with predicate path(${path}), error: ${why}`)
}
