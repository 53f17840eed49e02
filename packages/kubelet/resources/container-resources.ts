import {
  quantityToMilli,
  quantityToNumber,
  type Container,
  type EphemeralContainer,
  type Pod,
} from '@skerry/api'
import type { CgroupMode } from '../containerd/cgroups.ts'
import type { LinuxContainerResources } from '../cri/container-runtime.ts'
import { specOf } from '../pod/pod-spec.ts'
import { qosClass } from './qos.ts'

const cpuPeriodMicros = 100_000
const cpuQuotaMicrosMin = 1_000
const cpuSharesMin = 2
const cpuSharesMax = 262_144
const systemCriticalPriority = 2_000_000_000

type Resources = NonNullable<Container['resources']>

/** Returns the CPU shares; 1024 shares are one CPU. Without a request a container gets the kernel's minimum. */
function cpuShares(resources: Resources): number {
  const request = resources.requests?.['cpu'] ?? resources.limits?.['cpu']
  if (request === undefined) return cpuSharesMin
  const shares = Math.floor((quantityToMilli(request) * 1024) / 1000)
  return Math.min(cpuSharesMax, Math.max(cpuSharesMin, shares))
}

/** Returns the quota in microseconds per period; 0 means no limit. */
function cpuQuota(resources: Resources): number {
  const limit = resources.limits?.['cpu']
  if (limit === undefined) return 0
  const quota = Math.floor((quantityToMilli(limit) * cpuPeriodMicros) / 1000)
  return quota === 0 ? 0 : Math.max(cpuQuotaMicrosMin, quota)
}

/** 0: no limit. */
function memoryLimitBytes(resources: Resources): number {
  const limit = resources.limits?.['memory']
  return limit === undefined ? 0 : quantityToNumber(limit)
}

export function linuxContainerResources(
  pod: Pod,
  container: Container | EphemeralContainer,
  node: { cgroupMode: CgroupMode; memoryCapacityBytes: number },
): LinuxContainerResources {
  const resources = container.resources ?? {}
  const oomScoreAdj = oomScore(pod, container, node.memoryCapacityBytes)
  if (node.cgroupMode === 'none') return { oomScoreAdj }
  return {
    cpuPeriod: cpuPeriodMicros,
    cpuQuota: cpuQuota(resources),
    cpuShares: cpuShares(resources),
    memoryLimitInBytes: memoryLimitBytes(resources),
    oomScoreAdj,
  }
}

/** The more of the machine a burstable container asked for, the later it is killed. */
export function oomScore(
  pod: Pod,
  container: Container | EphemeralContainer,
  memoryCapacityBytes: number,
): number {
  const qos = qosClass(pod)
  if (qos === 'Guaranteed' || (specOf(pod).priority ?? 0) >= systemCriticalPriority) return -997
  if (qos === 'BestEffort') return 1000
  const request = container.resources?.requests?.['memory']
  const bytes = request === undefined ? 0 : quantityToNumber(request)
  const score = 1000 - Math.floor((1000 * bytes) / memoryCapacityBytes)
  return Math.min(999, Math.max(3, score))
}

/**
 * Returns a whole pod's resources: its own, or the sum of its containers', or more if init containers need
 * it.
 */
export function podResources(pod: Pod): { cpuShares: number; cpuQuota: number; memory: number } {
  const spec = specOf(pod)
  if (spec.resources) {
    return {
      cpuShares: cpuShares(spec.resources),
      cpuQuota: cpuQuota(spec.resources),
      memory: memoryLimitBytes(spec.resources),
    }
  }
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy)
  const inits = (spec.initContainers ?? []).filter(({ restartPolicy }) => !restartPolicy)
  const together = [...spec.containers, ...sidecars].map(({ resources }) => resources ?? {})
  const alone = inits.map(({ resources }) => resources ?? {})
  return {
    cpuShares: largest(sum(together.map(cpuShares)), alone.map(cpuShares)),
    cpuQuota: largest(sumOrNone(together.map(cpuQuota)), alone.map(cpuQuota)),
    memory: largest(sumOrNone(together.map(memoryLimitBytes)), alone.map(memoryLimitBytes)),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** If one container has no limit, neither has the pod. */
function sumOrNone(values: readonly number[]): number {
  return values.includes(0) ? 0 : sum(values)
}

function largest(together: number, alone: readonly number[]): number {
  return together === 0 ? 0 : Math.max(together, ...alone)
}
