import type { DaemonSet, Pod } from '@skerry/api'
import { controllerRevisionHashLabel } from '../history/controller-revisions.ts'
import { podFromTemplate } from '../pods/pod-actions.ts'
import { tolerationsOf } from './node-fit.ts'

const generationAnnotation = 'deprecated.daemonset.template.generation'
const generationLabel = 'pod-template-generation'

/** Builds a pod for one node; the scheduler places it there or nowhere. */
export function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const template = set.spec?.template ?? {}
  const pod = podFromTemplate(template, set)
  const generation = templateGeneration(set)
  const labels = {
    ...pod.metadata.labels,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
    [controllerRevisionHashLabel]: hash,
  }
  const affinity = pod.spec?.affinity
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: {
      containers: [],
      ...pod.spec,
      tolerations: tolerationsOf(template.spec),
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] },
            ],
          },
        },
      },
    },
  }
}

/** Returns the pod's node, or the node it is meant for until it is scheduled. */
export function nodeOfPod(pod: Pod): string | undefined {
  if (pod.spec?.nodeName) return pod.spec.nodeName
  const terms =
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms
  const requirement = terms
    ?.flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
  return requirement?.values?.[0]
}

export function isUpdated(set: DaemonSet, pod: Pod, hash: string): boolean {
  const labels = pod.metadata.labels ?? {}
  const generation = templateGeneration(set)
  return (
    labels[controllerRevisionHashLabel] === hash ||
    (generation !== undefined && labels[generationLabel] === generation)
  )
}

function templateGeneration(set: DaemonSet): string | undefined {
  const generation = set.metadata.annotations?.[generationAnnotation]
  return generation !== undefined && /^[0-9]+$/.test(generation) ? generation : undefined
}
