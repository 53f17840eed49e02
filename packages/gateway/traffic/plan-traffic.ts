import {
  isStatusError,
  labelSelectorOf,
  noLabelSelector,
  quantityToNumber,
  type LabelSelector,
} from '@skerry/api'
import {
  defaultTrafficRules,
  trafficBounds,
  type TrafficRate,
  type TrafficRules,
  type TunnelTraffic,
} from '@skerry/tunnel'
import type { Cluster, TrafficContract, TrafficContractRate } from '@skerry/fleet-kinds'

/** The rules for the tunnels of one cluster. */
export interface TrafficPlan extends TunnelTraffic {
  /** The name of the contract; omitted if there is none. */
  readonly contract?: string
}

export const noContract: TrafficPlan = Object.freeze({
  toAgent: defaultTrafficRules,
  toHub: defaultTrafficRules,
})

/** Chooses the contract with the highest priority among those that cover this cluster, then the first by name. */
export function planTraffic(
  { metadata }: Pick<Cluster, 'metadata'>,
  contracts: readonly TrafficContract[],
): TrafficPlan {
  const [first] = contracts
    .filter(({ spec }) => {
      const isNamed = spec.clusterNames?.includes(metadata.name ?? '') === true
      return isNamed || selectorOf(spec).matches(metadata.labels ?? {})
    })
    .toSorted(byPriority)
  return first ? planOf(first) : noContract
}

function byPriority(one: TrafficContract, other: TrafficContract): number {
  const difference = (other.spec.priority ?? 0) - (one.spec.priority ?? 0)
  if (difference !== 0) return difference
  return (one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1
}

function planOf({ metadata, spec }: TrafficContract): TrafficPlan {
  const { classes = {}, bulkAfter } = spec
  const { floors } = defaultTrafficRules
  const shared: TrafficRules = {
    floors: {
      control: partOf(classes.control, floors.control),
      interactive: partOf(classes.interactive, floors.interactive),
      logs: partOf(classes.logs, floors.logs),
      bulk: partOf(classes.bulk, floors.bulk),
    },
    bulkAfterBytes:
      bulkAfter === undefined ? defaultTrafficRules.bulkAfterBytes : quantityToNumber(bulkAfter),
  }
  return {
    contract: metadata.name ?? '',
    toAgent: { ...shared, ...rateOf(spec.downlink) },
    toHub: { ...shared, ...rateOf(spec.uplink) },
  }
}

function partOf(given: { floorPercent: number } | undefined, otherwise: number): number {
  return given === undefined ? otherwise : given.floorPercent / 100
}

function rateOf(given: TrafficContractRate | undefined): { rate?: TrafficRate } {
  if (given === undefined) return {}
  const bytesPerSecond = quantityToNumber(given.bytesPerSecond)
  const { burst } = given
  const burstBytes =
    burst === undefined
      ? Math.min(bytesPerSecond, trafficBounds.burstBytesMax)
      : quantityToNumber(burst)
  return { rate: { bytesPerSecond, burstBytes } }
}

/** Parses the selector. An invalid one selects nothing; the other contracts still hold. */
function selectorOf({ clusterSelector }: TrafficContract['spec']): LabelSelector {
  try {
    return labelSelectorOf(clusterSelector)
  } catch (error) {
    if (!isStatusError(error, 'BadRequest')) throw error
    return noLabelSelector
  }
}
