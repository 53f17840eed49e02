import type { AdmissionPlugin } from '@skerry/apiserver'
import { pendingAnnotation } from './write-marks.ts'

/**
 * Takes the mark of a write that waits on a node from objects that the control plane accepts: only nodes set it, in
 * their own answers. A client may bring it back from there, or pretend.
 */
export function createAcceptedMark(): AdmissionPlugin {
  return {
    name: 'AcceptedMark',
    handles: ({ object }) => object?.metadata.annotations?.[pendingAnnotation] !== undefined,
    async admit({ object }) {
      const { [pendingAnnotation]: _mark, ...others } = object?.metadata.annotations ?? {}
      if (object) object.metadata.annotations = others
    },
  }
}
