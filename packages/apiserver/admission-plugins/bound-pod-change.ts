import { isDeepStrictEqual } from 'node:util'
import type { Node, Pod, PodSpec } from '@skerry/api'
import type { AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { refuse } from '../admission-matching/refusal.ts'

/** A change of the specification of a pod that a node runs. */
export interface BoundPodChange {
  readonly spec: PodSpec
  readonly old: PodSpec
  readonly nodeName: string
}

export function boundPodChange({
  object,
  oldObject,
}: AdmissionRequest): BoundPodChange | undefined {
  if (!object || !oldObject) return undefined
  const [spec, old] = [typed<Pod>(object).spec, typed<Pod>(oldObject).spec]
  const nodeName = spec?.nodeName ?? ''
  if (!spec || !old || nodeName === '' || isDeepStrictEqual(spec, old)) return undefined
  return { spec, old, nodeName }
}

/** Throws StatusError Forbidden where there is none. */
export function requireNode(request: AdmissionRequest, objects: Objects, name: string): Node {
  const node = getTyped<Node>(objects, wellKnown.nodes, { name })
  if (node) return node
  throw refuse(request, `node ${JSON.stringify(name)} not found`)
}
