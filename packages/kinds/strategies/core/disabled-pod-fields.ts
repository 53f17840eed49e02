import type {
  Container,
  CronJob,
  Deployment,
  Pod,
  PodSpec,
  PodTemplate,
  Strategy,
  AnyObject,
} from '@skerry/api'
import type { Loose, LooseObject } from '../typed-strategy.ts'

type Spec = Loose<PodSpec>

/** Returns the spec of an object's pods. */
type PodSpecOf = (object: AnyObject) => Spec | undefined

/** Functions by the shape of kinds; each is called only with objects that were decoded as such a kind. */
export const podSpecs = Object.freeze({
  ofPod: (object) => (object as LooseObject<Pod>).spec,
  ofPodTemplate: (object) => (object as LooseObject<PodTemplate>).template?.spec,
  ofTemplate: (object) => (object as LooseObject<Deployment>).spec?.template?.spec,
  ofJobTemplate: (object) =>
    (object as LooseObject<CronJob>).spec?.jobTemplate?.spec?.template?.spec,
} satisfies Record<string, PodSpecOf>)

/**
 * Returns the strategy of a kind with pods that drops fields whose feature gates are off. Upstream does so after it has
 * recorded who owns them. An object that already has such a field keeps it.
 */
export function withoutDisabledPodFields(strategy: Strategy, podSpecOf: PodSpecOf): Strategy {
  return Object.freeze<Strategy>({
    ...strategy,
    prepareForCreate(next, context) {
      dropDisabled(podSpecOf(next), undefined)
      strategy.prepareForCreate?.(next, context)
    },
    prepareForUpdate(next, old, context) {
      dropDisabled(podSpecOf(next), podSpecOf(old))
      strategy.prepareForUpdate?.(next, old, context)
    },
  })
}

function dropDisabled(spec: Spec | undefined, before: Spec | undefined): void {
  if (!spec) return
  // Gate GenericWorkload.
  if (before?.schedulingGroup === undefined) delete spec.schedulingGroup
  // Gate ClusterTrustBundleProjection.
  if (!sourcesOf(before).some((source) => source.clusterTrustBundle)) {
    for (const source of sourcesOf(spec)) delete source.clusterTrustBundle
  }
  // Gate ContainerStopSignals.
  if (!containersOf(before).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined)) {
    for (const container of containersOf(spec)) dropStopSignal(container)
  }
}

function dropStopSignal(container: Loose<Container>): void {
  const { lifecycle } = container
  if (lifecycle?.stopSignal === undefined) return
  delete lifecycle.stopSignal
  if (Object.keys(lifecycle).length === 0) delete container.lifecycle
}

function sourcesOf({ volumes }: Spec = {}) {
  return (volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
}

function containersOf(spec: Spec = {}): Loose<Container>[] {
  const { containers, initContainers, ephemeralContainers } = spec
  // A list that is always written may be null.
  return [...(containers ?? []), ...(initContainers ?? []), ...(ephemeralContainers ?? [])]
}
