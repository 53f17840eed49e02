import { serviceLbController } from '@skerry/controllers'
import type { SitePart } from '../contract/site-part.ts'

/** Where addresses of services of type LoadBalancer come from: nodes have them, or another program gives them. */
export type Balancing = 'nodes' | 'none'

/** Gives services of type LoadBalancer their addresses. */
export function serviceBalancer(balancing: Balancing): SitePart {
  return { controllers: () => (balancing === 'none' ? [] : [serviceLbController()]) }
}
