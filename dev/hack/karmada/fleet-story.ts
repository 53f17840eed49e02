import type { AnyObject } from '@skerry/api'
import { anyObjects, resources, type ClusterClient } from '@skerry/client'
import {
  clusterPropagationPolicyResource,
  overridePolicyResource,
  propagationPolicyResource,
} from '@skerry/karmada-kinds'
import type { StoryStep } from './story-step.ts'

/** A control plane and the sites that its agents serve. */
export interface FleetWorld {
  readonly hub: ClusterClient
  readonly sites: Readonly<Record<string, ClusterClient>>
}

export const storyNamespace = 'shop'
export const storySites = ['reef', 'shore'] as const

export const storyRole = 'story-reader'

const web = { namespace: storyNamespace, name: 'web' }
const settings = { namespace: storyNamespace, name: 'settings' }
const deployments = anyObjects(resources.deployments)
const configMaps = anyObjects(resources.configMaps)
const policies = anyObjects(propagationPolicyResource)
const overrides = anyObjects(overridePolicyResource)

/** A person's actions on a fleet, one after the other. The same for any control plane. */
export const fleetStory: readonly StoryStep<FleetWorld>[] = [
  {
    title: 'a Deployment that no policy selects stays on the hub',
    act: async ({ hub }, signal) => {
      await hub.resource(configMaps).create(configMap, signal)
      await hub.resource(deployments).create(deployment, signal)
    },
  },
  {
    title:
      'a policy duplicates it to both sites, and with it what it needs; an override changes one',
    act: async ({ hub }, signal) => {
      await hub.resource(overrides).create(override, signal)
      await hub.resource(policies).create(policy('web', duplicated), signal)
    },
  },
  {
    title: 'the sites tell how it runs',
    act: ({ sites }, signal) =>
      Promise.all(Object.values(sites).map((site) => reportReady(site, 2, signal))),
  },
  {
    title: 'changes at a site are reverted',
    act: ({ sites: { reef } }, signal) => merge(reef, { spec: { replicas: 7 } }, signal),
  },
  {
    title: 'a change on the hub reaches both',
    act: ({ hub }, signal) => merge(hub, { spec: { replicas: 5 } }, signal),
  },
  {
    title: 'the policy divides it by weight',
    act: ({ hub }, signal) => changePolicy(hub, { placement: divided }, signal),
  },
  {
    title: 'one site is suspended, and the next change reaches the other alone',
    act: async ({ hub }, signal) => {
      const suspension = { dispatchingOnClusters: { clusterNames: ['shore'] } }
      await changePolicy(hub, { suspension }, signal)
      await merge(hub, { metadata: { annotations: { note: 'reef alone' } } }, signal)
    },
  },
  {
    title: 'the suspension ends',
    act: ({ hub }, signal) => changePolicy(hub, { suspension: null }, signal),
  },
  {
    title: 'without dependencies the settings leave',
    act: ({ hub }, signal) => changePolicy(hub, { propagateDeps: false }, signal),
  },
  {
    title: 'the override goes, and the image is the same everywhere',
    act: ({ hub }, signal) => hub.resource(overrides).delete(web, signal),
  },
  {
    title: 'the policy goes, and running objects stay',
    act: ({ hub }, signal) => hub.resource(policies).delete(web, signal),
  },
  {
    title: 'another policy takes it to one site',
    act: ({ hub }, signal) =>
      hub
        .resource(policies)
        .create(
          policy('next', { placement: { clusterAffinity: { clusterNames: ['shore'] } } }),
          signal,
        ),
  },
  {
    title: 'the policy is lazy now: a change of it waits',
    act: ({ hub }, signal) => {
      const spec = { activationPreference: 'Lazy', placement: both }
      const key = { namespace: storyNamespace, name: 'next' }
      return hub.resource(policies).patch({ ...key, type: 'merge', patch: { spec } }, signal)
    },
  },
  {
    title: 'the Deployment is changed, and the policy counts',
    act: ({ hub }, signal) => merge(hub, { metadata: { labels: { tier: 'front' } } }, signal),
  },
  {
    title: 'the Deployment is deleted',
    act: ({ hub }, signal) => hub.resource(deployments).delete(web, signal),
  },
  {
    title: 'a site has settings of its own, and is not overwritten',
    act: async ({ hub, sites: { reef } }, signal) => {
      const own = { ...configMap, data: { colour: 'own' } }
      await reef?.resource(configMaps).create(own, signal)
      await hub.resource(policies).create(settingsPolicy, signal)
    },
  },
  {
    title: 'but where the policy says so',
    act: ({ hub }, signal) => {
      const patch = { spec: { conflictResolution: 'Overwrite' } }
      return hub.resource(policies).patch({ ...settings, type: 'merge', patch }, signal)
    },
  },
  {
    title: 'a Job is divided, completions and all',
    act: async ({ hub }, signal) => {
      await hub.resource(policies).create(jobPolicy, signal)
      await hub.resource(jobs).create(job, signal)
    },
  },
  {
    title: 'a ClusterRole goes by a policy of the fleet',
    act: async ({ hub }, signal) => {
      await hub.resource(clusterPropagationPolicies).create(rolePolicy, signal)
      await hub.resource(clusterRoles).create(role, signal)
    },
  },
  {
    title: 'and is deleted',
    act: ({ hub }, signal) => hub.resource(clusterRoles).delete({ name: storyRole }, signal),
  },
]

const jobs = anyObjects(resources.jobs)
const clusterRoles = anyObjects(resources.clusterRoles)
const clusterPropagationPolicies = anyObjects(clusterPropagationPolicyResource)

const configMap: AnyObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: settings,
  data: { colour: 'green' },
}

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...web, labels: { app: 'web' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'registry.example.com/web:1',
            envFrom: [{ configMapRef: { name: 'settings' } }],
          },
        ],
      },
    },
  },
}

const job: AnyObject = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: storyNamespace, name: 'count' },
  spec: {
    parallelism: 4,
    completions: 10,
    template: {
      spec: { restartPolicy: 'Never', containers: [{ name: 'count', image: 'count' }] },
    },
  },
}

const role: AnyObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: storyRole },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
}

const both = { clusterAffinity: { clusterNames: [...storySites] } }
const duplicated = { placement: both, propagateDeps: true }
const divided = {
  ...both,
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: {
      staticWeightList: [
        { targetCluster: { clusterNames: ['reef'] }, weight: 1 },
        { targetCluster: { clusterNames: ['shore'] }, weight: 3 },
      ],
    },
  },
}

function policy(name: string, spec: Record<string, unknown>): AnyObject {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { namespace: storyNamespace, name },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
      ...spec,
    },
  }
}

const settingsPolicy: AnyObject = {
  ...policy('settings', {}),
  spec: {
    resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }],
    placement: both,
  },
}

const jobPolicy: AnyObject = {
  ...policy('count', {}),
  spec: {
    resourceSelectors: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'count' }],
    placement: divided,
  },
}

const rolePolicy: AnyObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'ClusterPropagationPolicy',
  metadata: { name: 'roles' },
  spec: {
    resourceSelectors: [
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: storyRole },
    ],
    placement: both,
  },
}

const override: AnyObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'OverridePolicy',
  metadata: web,
  spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
    overrideRules: [
      {
        targetCluster: { clusterNames: ['shore'] },
        overriders: {
          imageOverrider: [
            { component: 'Registry', operator: 'replace', value: 'shore.example.com' },
          ],
        },
      },
    ],
  },
}

async function changePolicy(
  hub: ClusterClient,
  spec: Record<string, unknown>,
  signal: AbortSignal,
) {
  await hub.resource(policies).patch({ ...web, type: 'merge', patch: { spec } }, signal)
}

async function merge(
  api: ClusterClient | undefined,
  patch: unknown,
  signal: AbortSignal,
): Promise<void> {
  await api?.resource(deployments).patch({ ...web, type: 'merge', patch }, signal)
}

/** Reports as the controllers of a site would: the pods of all replicas run. */
async function reportReady(
  site: ClusterClient,
  replicas: number,
  signal: AbortSignal,
): Promise<void> {
  const { metadata } = await site.resource(deployments).get(web, signal)
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas }
  const observed = { availableReplicas: replicas, observedGeneration: metadata.generation }
  const patch = { status: { ...counts, ...observed } }
  await site.resource(deployments).patchStatus({ ...web, type: 'merge', patch }, signal)
}
