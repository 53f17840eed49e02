import { parseDurationMs } from '@skerry/api'
import * as z from 'zod'

/** The supported fields of kubescheduler.config.k8s.io/v1. */

const pluginName = z.looseObject({ name: z.string(), weight: z.number().int().optional() })

const pluginSet = z.looseObject({
  enabled: z.array(pluginName).default([]),
  disabled: z.array(pluginName).default([]),
})

/** The file's values have the API's own types. */
const nodeSelectorRequirement = z.object({
  key: z.string(),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
  values: z.array(z.string()).default([]),
})

const nodeSelectorTerm = z.object({
  matchExpressions: z.array(nodeSelectorRequirement).default([]),
  matchFields: z.array(nodeSelectorRequirement).default([]),
})

export const nodeAffinityArgs = z.looseObject({
  addedAffinity: z
    .object({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .object({ nodeSelectorTerms: z.array(nodeSelectorTerm).min(1) })
        .optional(),
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(z.object({ weight: z.number().int().min(1).max(100), preference: nodeSelectorTerm }))
        .default([]),
    })
    .optional(),
})

const resourceWeights = z.array(
  z.object({ name: z.string().min(1), weight: z.number().int().min(1).max(100).default(1) }),
)

const shapePoint = z.object({
  utilization: z.number().int().min(0).max(100),
  score: z.number().int().min(0).max(10),
})

export const resourcesFitArgs = z.looseObject({
  ignoredResources: z.array(z.string()).default([]),
  ignoredResourceGroups: z.array(z.string()).default([]),
  scoringStrategy: z
    .object({
      type: z
        .enum(['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'])
        .default('LeastAllocated'),
      resources: resourceWeights.optional(),
      requestedToCapacityRatio: z.object({ shape: z.array(shapePoint).min(1) }).optional(),
    })
    .optional(),
})

export const balancedAllocationArgs = z.looseObject({ resources: resourceWeights.optional() })

export const topologySpreadArgs = z.looseObject({
  defaultingType: z.enum(['System', 'List']).default('System'),
  defaultConstraints: z
    .array(
      z.object({
        maxSkew: z.number().int().min(1),
        topologyKey: z.string().min(1),
        whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
      }),
    )
    .default([]),
})

export const interPodAffinityArgs = z.looseObject({
  hardPodAffinityWeight: z.number().int().min(0).max(100).default(1),
  ignorePreferredTermsOfExistingPods: z.boolean().default(false),
})

const extensionPoints = [
  'multiPoint',
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const

export type ExtensionPoint = (typeof extensionPoints)[number]

const profile = z.object({
  schedulerName: z.string().min(1).default('default-scheduler'),
  percentageOfNodesToScore: z.number().int().min(0).max(100).optional(),
  plugins: z.partialRecord(z.enum(extensionPoints), pluginSet).default({}),
  pluginConfig: z.array(z.object({ name: z.string(), args: z.unknown() })).default([]),
})

export type ProfileFields = z.infer<typeof profile>

const timeoutMsDefault = 5_000

const extender = z
  .object({
    urlPrefix: z.url(),
    filterVerb: z.string().default(''),
    preemptVerb: z.string().default(''),
    prioritizeVerb: z.string().default(''),
    bindVerb: z.string().default(''),
    weight: z.number().int().min(0).default(0),
    enableHTTPS: z.boolean().default(false),
    tlsConfig: z
      .object({
        insecure: z.boolean().optional(),
        serverName: z.string().optional(),
        certFile: z.string().optional(),
        keyFile: z.string().optional(),
        caFile: z.string().optional(),
        certData: z.string().optional(),
        keyData: z.string().optional(),
        caData: z.string().optional(),
      })
      .optional(),
    /** Parses a duration to milliseconds. */
    httpTimeout: z
      .string()
      .transform((text) => parseDurationMs(text) || timeoutMsDefault)
      .default(timeoutMsDefault),
    nodeCacheCapable: z.boolean().default(false),
    managedResources: z
      .array(z.object({ name: z.string(), ignoredByScheduler: z.boolean().default(false) }))
      .default([]),
    ignorable: z.boolean().default(false),
  })
  .refine(({ prioritizeVerb, weight }) => prioritizeVerb === '' || weight > 0, {
    path: ['weight'],
    message: 'must be positive where there is a prioritizeVerb',
  })

export type ExtenderFields = z.infer<typeof extender>

export const schedulerConfiguration = z.looseObject({
  apiVersion: z.literal('kubescheduler.config.k8s.io/v1'),
  kind: z.literal('KubeSchedulerConfiguration'),
  percentageOfNodesToScore: z.number().int().min(0).max(100).default(0),
  podInitialBackoffSeconds: z.number().int().min(1).default(1),
  podMaxBackoffSeconds: z.number().int().min(1).default(10),
  profiles: z
    .array(profile)
    .min(1)
    .default([{ schedulerName: 'default-scheduler', plugins: {}, pluginConfig: [] }]),
  extenders: z
    .array(extender)
    .refine((all) => all.filter(({ bindVerb }) => bindVerb !== '').length <= 1, 'only one may bind')
    .default([]),
})
