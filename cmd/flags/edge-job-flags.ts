/** The words that several commands on jobs of edge clusters have. */
import { InvalidArgumentError, type Command } from 'commander'
import type { EdgeJobSpec } from '@skerry/provisioning'
import { onEdge } from './edge-cluster-flags.ts'
import { collect, toLogLevel } from './option-values.ts'

const checks = ['disk', 'memory', 'versionSkew', 'health']

/** Adds the arguments and options of every command that changes machines of several edge clusters. */
export function withJobOptions(command: Command): Command {
  return onEdge(command)
    .argument('[names...]', 'names of EdgeClusters; or give --selector')
    .option('-l, --selector <labels>', 'EdgeClusters with these labels: key=value,key=value')
    .option('--job <name>', 'name of the EdgeJob (default: a new one)')
    .option('--masters', 'only on masters')
    .option('--nodes', 'only on machines of role Node')
    .option('--machine <address>', 'only on this machine (repeatable)', collect, [])
    .option('--machine-selector <labels>', 'only on machines whose block has these labels')
    .option(
      '--machines-at-once <number>',
      'machines of one cluster at the same time (default: 1)',
      toAmount,
    )
    .option('--clusters-at-once <number>', 'clusters at the same time (default: 5)', toAmount)
    .option(
      '--failure-tolerance <number>',
      'machines that may fail, or a part such as 10% (default: 0)',
    )
    .option(
      '--timeout <seconds>',
      'seconds until a machine must be Ready again (default: 300), or for each image (default: 1800)',
      toAmount,
    )
    .option('--attempts <number>', 'how often a step is tried (default: 3)', toAmount)
    .option('--require-confirmation', 'wait on each machine until somebody confirms')
    .option('--skip-check <name>', `${checks.join(', ')} (repeatable)`, toCheck, [])
    .option('--dry-run', 'let the hub check the job and print it; change nothing')
    .option('--wait', 'follow the job until it has ended')
}

function toAmount(text: string): number {
  const amount = Number(text)
  if (Number.isInteger(amount) && amount >= 1) return amount
  throw new InvalidArgumentError('give a whole number from 1')
}

function toCheck(text: string, previous: string[]): string[] {
  if (checks.includes(text)) return [...previous, text]
  throw new InvalidArgumentError(`use ${checks.join(', ')}`)
}

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
