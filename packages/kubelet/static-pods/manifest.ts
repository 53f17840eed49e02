import { createHash } from 'node:crypto'
import { referenceOfStaticPod, type AnyObject, type Pod } from '@skerry/api'
import { strategies } from '@skerry/kinds'
import { parse } from 'yaml'
import { staticAnnotations } from './static-pod-marks.ts'

/**
 * Returns the pod of a manifest file, as this node runs it. Its uid is derived from the file's content, so
 * that a changed manifest is a new pod. Throws for a file without a pod, and for a pod that refers to objects
 * of the API.
 */
export function parseManifest(
  text: string,
  options: { file: string; nodeName: string; nowMs: number },
): Pod {
  const { file, nodeName, nowMs } = options
  const content: unknown = parse(text)
  if (!isPod(content)) throw new TypeError(`Cannot read ${file}: it is not a v1 Pod`)
  const hash = createHash('md5').update(nodeName).update(file).update(text).digest('hex')
  const uid = content.metadata.uid || hash
  const pod: Pod & AnyObject = {
    ...content,
    metadata: {
      ...content.metadata,
      name: `${content.metadata.name}-${nodeName}`,
      namespace: content.metadata.namespace || 'default',
      uid,
      annotations: {
        ...content.metadata.annotations,
        [staticAnnotations.hash]: uid,
        [staticAnnotations.source]: 'file',
        [staticAnnotations.seen]: new Date(nowMs).toISOString(),
      },
    },
    spec: {
      ...content.spec,
      nodeName,
      tolerations: [
        ...(content.spec.tolerations ?? []),
        { effect: 'NoExecute', operator: 'Exists' },
      ],
    },
  }
  // The API server refuses its mirror, so nothing would authorize what it reads.
  const reference = referenceOfStaticPod(pod)
  if (reference !== undefined) {
    throw new TypeError(`Cannot read ${file}: static pods may not reference ${reference}`)
  }
  // No API server has filled in the omitted fields.
  strategies['/Pod']?.defaults?.(pod)
  return pod
}

type CompletePod = Pod & { spec: NonNullable<Pod['spec']> }

function isPod(content: unknown): content is CompletePod {
  if (typeof content !== 'object' || content === null) return false
  const { kind, apiVersion, metadata, spec } = content as Partial<Pod> // every field is tested here
  return (
    kind === 'Pod' &&
    apiVersion === 'v1' &&
    typeof metadata?.name === 'string' &&
    Array.isArray(spec?.containers)
  )
}
