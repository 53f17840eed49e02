import { ExpectedError, exitCodes } from '@skerry/base'
import type * as z from 'zod'
import type { ConfigurationDeps, SchedulerConfiguration } from './configuration.ts'
import {
  balancedAllocationArgs,
  interPodAffinityArgs,
  nodeAffinityArgs,
  resourcesFitArgs,
  schedulerConfiguration,
  topologySpreadArgs,
  type ExtensionPoint,
  type ProfileFields,
} from './configuration-schema.ts'
import { defaultPlugins } from './default-plugins.ts'
import { createHttpExtender } from './http-extender.ts'
import type { Plugin } from './framework/plugin.ts'
import { interPodAffinity } from './plugins/inter-pod-affinity.ts'
import { nodeAffinity } from './plugins/node-plugins.ts'
import { podTopologySpread, topologySpreadDefaults } from './plugins/pod-topology-spread.ts'
import {
  nodeResourcesBalancedAllocation,
  nodeResourcesFit,
  resourcesFitDefaults,
} from './plugins/resource-plugins.ts'
import type { Profile } from './profile.ts'

export function readConfiguration(
  document: unknown,
  deps: ConfigurationDeps,
): SchedulerConfiguration {
  const fields = parse(schedulerConfiguration, document, '')
  const ignored = fields.extenders.flatMap(({ managedResources }) =>
    managedResources.filter((each) => each.ignoredByScheduler).map(({ name }) => name),
  )
  const profiles = fields.profiles.map((each, index) =>
    profileOf(each, {
      path: `profiles[${index}]`,
      percentage: fields.percentageOfNodesToScore,
      ignored,
    }),
  )
  const names = profiles.map((each) => each.schedulerName)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw wrong(`profiles: two have the schedulerName "${twice}"`)
  return {
    profiles,
    extenders: fields.extenders.map((each) => createHttpExtender(each, deps)),
    backoffInitialMs: fields.podInitialBackoffSeconds * 1_000,
    backoffMaxMs: fields.podMaxBackoffSeconds * 1_000,
  }
}

/** Plugins that are part of the scheduler itself. None can be disabled alone, except preemption. */
const builtIn = new Set(['SchedulingGates', 'PrioritySort', 'DefaultPreemption', 'DefaultBinder'])

/** Upstream's plugins that do not exist here. Naming them is allowed. */
const absent = new Set(['GangScheduling'])

const configurable: Readonly<Record<string, (args: unknown, path: string) => Plugin>> =
  Object.freeze({
    NodeAffinity: (args: unknown, path: string) =>
      nodeAffinity(parse(nodeAffinityArgs, args, path).addedAffinity),
    NodeResourcesFit: fitOf,
    NodeResourcesBalancedAllocation: (args: unknown, path: string) =>
      nodeResourcesBalancedAllocation(parse(balancedAllocationArgs, args, path).resources),
    PodTopologySpread: spreadOf,
    InterPodAffinity: (args: unknown, path: string) =>
      interPodAffinity(parse(interPodAffinityArgs, args, path)),
  })

function fitOf(args: unknown, path: string): Plugin {
  const fields = parse(resourcesFitArgs, args, path)
  const { type, resources, requestedToCapacityRatio } = fields.scoringStrategy ?? {}
  const shape = requestedToCapacityRatio?.shape ?? []
  if (type === 'RequestedToCapacityRatio' && shape.length === 0) {
    throw wrong(`${path}.scoringStrategy.requestedToCapacityRatio.shape: at least one point`)
  }
  return nodeResourcesFit({
    strategy: type ?? resourcesFitDefaults.strategy,
    resources: resources ?? resourcesFitDefaults.resources,
    shape,
    ignoredResources: fields.ignoredResources,
    ignoredResourceGroups: fields.ignoredResourceGroups,
  })
}

function spreadOf(args: unknown, path: string): Plugin {
  const { defaultingType, defaultConstraints } = parse(topologySpreadArgs, args, path)
  if (defaultingType === 'List') {
    return podTopologySpread({ defaults: defaultConstraints, isSystemDefaulted: false })
  }
  if (defaultConstraints.length > 0) {
    throw wrong(`${path}.defaultConstraints: only with defaultingType List`)
  }
  return podTopologySpread(topologySpreadDefaults)
}

interface ProfilePlace {
  path: string
  percentage: number
  /** The resources that extenders manage. */
  ignored: readonly string[]
}

function profileOf(fields: ProfileFields, { path, percentage, ignored }: ProfilePlace): Profile {
  const plugins = new Map(defaultPlugins.map((plugin) => [plugin.name, plugin]))
  const withIgnored = (args: unknown): unknown => ignoring(args, ignored)
  if (ignored.length > 0) plugins.set('NodeResourcesFit', fitOf(withIgnored({}), path))
  for (const { name, args } of fields.pluginConfig) {
    checkName(plugins, name, `${path}.pluginConfig`)
    const given = name === 'NodeResourcesFit' ? withIgnored(args ?? {}) : (args ?? {})
    const made = configurable[name]?.(given, `${path}.pluginConfig[${name}].args`)
    if (made !== undefined) plugins.set(name, made)
  }
  for (const [point, set] of Object.entries(fields.plugins)) {
    for (const { name } of [...set.enabled, ...set.disabled]) {
      if (name !== '*') checkName(plugins, name, `${path}.plugins.${point}`)
    }
  }
  const filters = selected(fields, [...plugins.values()], ['filter', 'preFilter'])
  const scores = selected(fields, [...plugins.values()], ['score', 'preScore'])
  return {
    schedulerName: fields.schedulerName,
    filters,
    scores: scores.map((plugin) => ({ plugin, weight: weightOf(fields, plugin) })),
    deallocates: !isDisabled(fields, ['multiPoint', 'postFilter'], 'DynamicResources'),
    preempts: !isDisabled(fields, ['multiPoint', 'postFilter'], 'DefaultPreemption'),
    percentageOfNodesToScore: fields.percentageOfNodesToScore ?? percentage,
  }
}

function ignoring(args: unknown, ignored: readonly string[]): unknown {
  if (typeof args !== 'object' || args === null) return args
  const own: unknown = 'ignoredResources' in args ? args.ignoredResources : []
  const before: unknown[] = Array.isArray(own) ? own : []
  return { ...args, ignoredResources: [...before, ...ignored] }
}

function checkName(plugins: ReadonlyMap<string, Plugin>, name: string, path: string): void {
  if (plugins.has(name) || builtIn.has(name) || absent.has(name)) return
  throw wrong(`${path}: there is no plugin "${name}"`)
}

/**
 * Returns the default plugins without disabled ones, and those enabled again at the points where
 * they act. The plugins named for a point come first there, in the given order.
 */
function selected(
  fields: ProfileFields,
  plugins: readonly Plugin[],
  points: readonly ExtensionPoint[],
): Plugin[] {
  const [point] = points
  const named = [
    ...(point === undefined ? [] : (fields.plugins[point]?.enabled ?? [])),
    ...(isDisabled(fields, ['multiPoint'], '*') ? (fields.plugins.multiPoint?.enabled ?? []) : []),
  ].map(({ name }) => name)
  const placeOf = ({ name }: Plugin): number =>
    named.includes(name) ? named.indexOf(name) : named.length
  return plugins
    .filter(({ name }) => !isDisabled(fields, ['multiPoint', ...points], name))
    .toSorted((a, b) => placeOf(a) - placeOf(b))
}

function isDisabled(
  { plugins }: ProfileFields,
  points: readonly ExtensionPoint[],
  name: string,
): boolean {
  const isNamed = (list: readonly { name: string }[]): boolean =>
    list.some((each) => each.name === name || each.name === '*')
  const isEnabled = points.some((point) =>
    (plugins[point]?.enabled ?? []).some((each) => each.name === name),
  )
  return !isEnabled && points.some((point) => isNamed(plugins[point]?.disabled ?? []))
}

function weightOf({ plugins }: ProfileFields, plugin: Plugin): number {
  const named = (point: ExtensionPoint): number | undefined =>
    plugins[point]?.enabled.find(({ name }) => name === plugin.name)?.weight
  return named('score') || named('multiPoint') || plugin.weight || 1
}

function parse<S extends z.ZodType>(schema: S, value: unknown, path: string): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = [path, ...(issue?.path ?? []).map(String)].filter((each) => each !== '').join('.')
  throw wrong(`${field}: ${issue?.message ?? 'wrong'}`)
}

function wrong(text: string): ExpectedError {
  return new ExpectedError(`Cannot read scheduler configuration: ${text}`, exitCodes.usage)
}
