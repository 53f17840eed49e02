import { isDeepStrictEqual } from 'node:util'
import type { Pod, PodSpec, RuntimeClass, Toleration } from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

/** Gives a pod the overhead and the placement of the runtime class that it names. */
export function createRuntimeClassPlugin({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.pods) && subresource === '' && operation === 'CREATE',
    async admit(request) {
      const spec = specOf(request)
      const runtimeClass = spec && findClass(request, spec, objects)
      if (!spec || !runtimeClass) return
      const podFixed = runtimeClass.overhead?.podFixed
      if (podFixed) {
        if (isSet(spec.overhead) && !isDeepStrictEqual(spec.overhead, podFixed))
          throw mismatch(request)
        spec.overhead = { ...podFixed }
      }
      setScheduling(request, spec, runtimeClass)
    },
    async validate(request) {
      const spec = specOf(request)
      if (!spec) return
      const podFixed = findClass(request, spec, objects)?.overhead?.podFixed
      if (podFixed && !isDeepStrictEqual(spec.overhead, podFixed)) throw mismatch(request)
      if (!podFixed && isSet(spec.overhead)) {
        throw refuse(
          request,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        )
      }
    },
  }
}

function specOf({ object }: AdmissionRequest): PodSpec | undefined {
  return object && typed<Pod>(object).spec
}

function isSet(overhead: PodSpec['overhead']): boolean {
  return overhead !== undefined && Object.keys(overhead).length > 0
}

function findClass(
  request: AdmissionRequest,
  { runtimeClassName: name }: PodSpec,
  objects: Objects,
): RuntimeClass | undefined {
  if (name === undefined) return undefined
  const found = getTyped<RuntimeClass>(objects, wellKnown.runtimeClasses, { name })
  if (found) return found
  throw refuse(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
}

function mismatch(request: AdmissionRequest) {
  return refuse(
    request,
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  )
}

function setScheduling(
  request: AdmissionRequest,
  spec: PodSpec,
  { scheduling }: RuntimeClass,
): void {
  if (!scheduling) return
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const own = spec.nodeSelector?.[key]
    if (own !== undefined && own !== value) {
      throw refuse(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      )
    }
    spec.nodeSelector = { ...spec.nodeSelector, [key]: value }
  }
  const present: readonly Toleration[] = spec.tolerations ?? []
  const added = (scheduling.tolerations ?? []).filter(
    (toleration) => !present.some((other) => isDeepStrictEqual(other, toleration)),
  )
  if (added.length > 0) spec.tolerations = [...present, ...added]
}
