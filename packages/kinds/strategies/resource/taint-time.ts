import type { DeviceTaint } from '@skerry/api'
import { rfc3339 } from '../timestamps.ts'
import type { Loose } from '../typed-strategy.ts'

/** A taint without a time was added now. */
export function setTaintTimes(taints: readonly Loose<DeviceTaint>[] = [], nowMs: number): void {
  for (const taint of taints) taint.timeAdded ??= rfc3339(nowMs)
}
