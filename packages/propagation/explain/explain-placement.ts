import { placeBinding } from '../placement/place-binding.ts'
import type { ExplainFacts } from './explain-object.ts'

/** Returns why an object does not go to a cluster. */
export type WhyNotPlaced = (cluster: string) => string

/** Runs the scheduler on the present facts. Pure. */
export function explainPlacement({ binding, clusters, others = [] }: ExplainFacts): WhyNotPlaced {
  if (binding === undefined) return () => 'it is not propagated'
  const { spec, status } = binding
  if (spec.placement === undefined) return () => 'nothing that needs it goes there'
  if (spec.suspension?.scheduling === true) return () => 'scheduling is suspended'
  const { clusters: _placed, ...fresh } = spec
  const {
    diagnosis,
    message,
    clusters: chosen,
  } = placeBinding({
    spec: fresh,
    ...(status === undefined ? {} : { status }),
    clusters,
    others,
  })
  const reasons = new Map(diagnosis.map((each) => [each.cluster, each.reasons.join('; ')]))
  const fits = new Set((chosen ?? []).map(({ name }) => name))
  return (cluster) => {
    const reason = reasons.get(cluster)
    if (reason) return reason
    if (fits.has(cluster)) return 'it fits now, and was not chosen when the object was placed'
    if (chosen === undefined) return message
    return 'it fits, and others were chosen: spread constraints or the division of replicas left none for it'
  }
}
