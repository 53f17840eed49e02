import type { Clock } from '@skerry/base'
import { defaultProfile } from './default-plugins.ts'
import type { Extender } from './extender.ts'
import type { Profile } from './profile.ts'
import { queueDefaults } from './limits-table.ts'

/** The scheduler's settings, parsed and validated. */
export interface SchedulerConfiguration {
  /** At least one profile, each with its own schedulerName. */
  readonly profiles: readonly Profile[]
  /** The extenders are asked one after the other. */
  readonly extenders: readonly Extender[]
  readonly backoffInitialMs: number
  readonly backoffMaxMs: number
}

export const defaultConfiguration: SchedulerConfiguration = Object.freeze({
  profiles: [defaultProfile],
  extenders: [],
  backoffInitialMs: queueDefaults.backoffInitialMs,
  backoffMaxMs: queueDefaults.backoffMaxMs,
})

export interface ConfigurationDeps {
  /** Bounds the time of extenders' answers. */
  readonly clock: Pick<Clock, 'setTimer'>
}

/**
 * Reads a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1. Rejects with an
 * ExpectedError that names the field if it is wrong or not supported. The parser is loaded only
 * when needed.
 */
export async function parseSchedulerConfiguration(
  document: unknown,
  deps: ConfigurationDeps,
): Promise<SchedulerConfiguration> {
  const { readConfiguration } = await import('./read-configuration.ts')
  return readConfiguration(document, deps)
}
