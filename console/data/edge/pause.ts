/** Holds edge clusters and jobs up and lets them go on, by the field and the annotation that the hub knows for it. Pure. */

const annotation = 'hub.skerry.io/pause'

interface Pausable {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: { readonly paused?: boolean }
}

/** Reports whether a person has paused the object: the annotation does it with every value but `false`. */
export function isPaused({ metadata, spec }: Pausable): boolean {
  return spec.paused === true || (metadata.annotations?.[annotation] ?? 'false') !== 'false'
}

/** Returns the merge patch that pauses an object, or lets it go on however it was paused. */
export function pausePatch(ask: 'pause' | 'resume'): unknown {
  if (ask === 'pause') return { spec: { paused: true } }
  return { spec: { paused: false }, metadata: { annotations: { [annotation]: null } } }
}
