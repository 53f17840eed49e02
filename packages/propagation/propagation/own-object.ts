import type { ResourceBinding } from '@skerry/karmada-kinds'
import { isPropagatable } from './reserved-objects.ts'

/**
 * Returns why a binding may not send its object anywhere; undefined if it may. The hub reads the object with
 * its own rights, so a binding that names another namespace would send somebody else's object.
 */
export function bindingRefusal({ metadata, spec }: ResourceBinding): string | undefined {
  const { kind, namespace = '', name } = spec.resource
  const own = metadata.namespace ?? ''
  if (namespace === own && isPropagatable(spec.resource)) return undefined
  const binding = `binding "${own === '' ? '' : `${own}/`}${metadata.name ?? ''}"`
  const object = `${kind} "${namespace === '' ? '' : `${namespace}/`}${name}"`
  const why =
    namespace === own
      ? 'objects of this kind, name or namespace stay on the hub'
      : 'a binding takes objects of its own namespace only'
  return `Cannot propagate ${object} by ${binding}: ${why}`
}
