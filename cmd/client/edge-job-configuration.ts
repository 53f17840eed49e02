import type { EdgeJobSpec } from '@skerry/provisioning'
import { toLogLevel } from '../flags/option-values.ts'

type Configuration = NonNullable<EdgeJobSpec['configure']>

export interface ConfigurationFlags {
  siteLogLevel: string | undefined
  siteMetricsApi: boolean | undefined
  siteFeatureGate: string[]
  siteRuntimeConfig: string[]
  siteDefaults: boolean | undefined
  nodeLogLevel: string | undefined
  nodeReservedAddress: string[]
  nodeDefaults: boolean | undefined
}

/** Returns the options of each role that a flag names. A role without one keeps its options. */
export function configurationOf(flags: ConfigurationFlags): Configuration {
  const site = {
    ...(flags.siteLogLevel === undefined ? {} : { logLevel: toLogLevel(flags.siteLogLevel) }),
    ...(flags.siteMetricsApi === undefined ? {} : { metricsAPI: flags.siteMetricsApi }),
    ...(flags.siteFeatureGate.length === 0 ? {} : { featureGates: flags.siteFeatureGate }),
    ...(flags.siteRuntimeConfig.length === 0 ? {} : { runtimeConfig: flags.siteRuntimeConfig }),
  }
  const node = {
    ...(flags.nodeLogLevel === undefined ? {} : { logLevel: toLogLevel(flags.nodeLogLevel) }),
    ...(flags.nodeReservedAddress.length === 0
      ? {}
      : { reservedAddresses: flags.nodeReservedAddress }),
  }
  const isNamed = (role: object, isDefault: boolean | undefined): boolean =>
    isDefault === true || Object.keys(role).length > 0
  return {
    ...(isNamed(site, flags.siteDefaults) ? { site } : {}),
    ...(isNamed(node, flags.nodeDefaults) ? { node } : {}),
  }
}
