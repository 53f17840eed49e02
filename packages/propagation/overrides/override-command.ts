import type { AnyObject, JsonObject } from '@skerry/api'
import { objectsAt } from '@skerry/fleet-kinds'
import type { CommandOverrider } from '@skerry/karmada-kinds'
import type { OverridePatch } from './patch-document.ts'
import { podContainersPath } from './pod-containers.ts'

/** Returns the patches of a command or args overrider, one for each container of that name. */
export function commandPatches(
  object: AnyObject,
  field: 'command' | 'args',
  overrider: CommandOverrider,
): OverridePatch[] {
  const containers = podContainersPath(object)
  if (containers === undefined) return []
  return objectsAt(object, ...containers).flatMap((container, at) => {
    if (container['name'] !== overrider.containerName) return []
    const value = overridden(wordsOf(container, field), overrider)
    const operator = container[field] === undefined ? 'add' : 'replace'
    return [{ operator, path: `/${containers.join('/')}/${at}/${field}`, value } as const]
  })
}

function wordsOf(container: JsonObject, field: string): readonly unknown[] {
  const words = container[field]
  return Array.isArray(words) ? words : []
}

function overridden(words: readonly unknown[], { operator, value = [] }: CommandOverrider) {
  if (operator === 'add') return [...words, ...value]
  const gone: ReadonlySet<unknown> = new Set(value)
  return words.filter((word) => !gone.has(word))
}
