import type { KubeObject } from '@skerry/api'

/**
 * Pauses an EdgeCluster or an EdgeJob for as long as the object has it, as `spec.paused` does. Every value but `false`
 * counts. The hub never removes it: a person does.
 */
const pauseAnnotation = 'hub.skerry.io/pause'

interface Pausable extends Pick<KubeObject, 'metadata'> {
  readonly spec: { readonly paused?: boolean }
}

/** Returns the name of the field, the annotation or both by which a person has paused an object; undefined if it goes on. */
export function pausedBy({ metadata, spec }: Pausable): string | undefined {
  const value = metadata.annotations?.[pauseAnnotation]
  const names = [
    ...(spec.paused === true ? ['spec.paused'] : []),
    ...(value === undefined || value === 'false' ? [] : [`annotation ${pauseAnnotation}`]),
  ]
  return names.length === 0 ? undefined : names.join(' and ')
}

/** Returns the merge patch that pauses an object, or lets it go on however it was paused. */
export function pausePatch(isPaused: boolean): object {
  if (isPaused) return { spec: { paused: true } }
  return { spec: { paused: null }, metadata: { annotations: { [pauseAnnotation]: null } } }
}
