import assert from 'node:assert/strict'
import { isJsonObject, isStatusError, type AnyObject } from '@skerry/api'
import { anyObjects, resources, type ClusterClient } from '@skerry/client'
import { clusterIdOf } from '@skerry/cluster-agent'
import { clusterResource, executionNamespace, virtualClusterSetResource } from '@skerry/fleet-kinds'
import {
  propagationPolicyResource,
  resourceBindingResource,
  workResource,
} from '@skerry/karmada-kinds'
import { virtualIdOf } from '@skerry/virtual-clusters'
import { addNode } from '../../../testing/scenes/virtual-scene.ts'
import { pictureOf, plain, shelf, templates, type FleetPicture } from './fleet-picture.ts'
import { storyNamespace } from './fleet-story.ts'
import type { StoryStep } from './story-step.ts'
import { untilFound } from './until-found.ts'

/** A control plane, and the one edge cluster whose groups of nodes are clusters there. */
export interface VirtualWorld {
  readonly hub: ClusterClient
  readonly edge: ClusterClient
}

export const parent = 'bank'
const branches = ['cove', 'reef', 'shore'] as const
const web = { namespace: storyNamespace, name: 'web' }
const deployments = anyObjects(resources.deployments)
const configMaps = anyObjects(resources.configMaps)
const policies = anyObjects(propagationPolicyResource)
const branchKey = 'branch'

/** Returns the story's namespace in the edge cluster. */
function placeOf(branch: string): string {
  return `${storyNamespace}-${parent}-${branch}`
}

/** The actions of a person whose branches are groups of nodes. The same for any control plane. */
export const virtualStory: readonly StoryStep<VirtualWorld>[] = [
  {
    title: 'nodes of three branches are three clusters, each with an id of its own, and ready',
    async act({ hub, edge }, signal) {
      const nodes = { n1: 'reef', n2: 'reef', n3: 'shore', n4: 'cove' }
      for (const [name, branch] of Object.entries(nodes)) {
        await addNode(edge, name, { [branchKey]: branch }, signal)
      }
      const sets = edge.resource(virtualClusterSetResource)
      await untilFound(() => sets.create(branchSet, signal), Boolean, signal)
      const edgeId = await clusterIdOf(edge, signal)
      for (const branch of branches) {
        const name = `${parent}-${branch}`
        const { spec } = await untilFound(
          () => hub.resource(clusterResource).get({ name }, signal),
          ({ status }) =>
            ['Ready', 'CompleteAPIEnablements'].every((type) =>
              status?.conditions?.some((each) => each.type === type && each.status === 'True'),
            ) && (status?.nodeSummary?.totalNum ?? 0) > 0,
          signal,
        )
        assert.equal(spec.id, virtualIdOf(edgeId, name))
      }
      const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: storyNamespace } }
      await hub
        .resource(resources.namespaces)
        .create(space, signal)
        .catch((error: unknown) => {
          if (!isStatusError(error, 'AlreadyExists')) throw error
        })
    },
  },
  {
    title:
      'a policy divides a Deployment between two of them, with its dependencies; the third stays empty',
    async act({ hub }, signal) {
      await hub.resource(configMaps).create(settings, signal)
      await hub.resource(deployments).create(deployment, signal)
      await hub.resource(policies).create(policy, signal)
    },
  },
  {
    title: 'the branches tell how it runs: it is healthy, and the sum is on the Deployment',
    async act({ hub, edge }, signal) {
      const counts = { reef: 1, shore: 3 }
      for (const [branch, replicas] of Object.entries(counts)) {
        await reportReady(edge, { branch, replicas }, signal)
      }
      await untilFound(
        () => hub.resource(deployments).get(web, signal),
        ({ status }) => isJsonObject(status) && status['readyReplicas'] === 4,
        signal,
      )
      const key = { namespace: storyNamespace, name: 'web-deployment' }
      await untilFound(
        () => hub.resource(resourceBindingResource).get(key, signal),
        ({ status }) =>
          status?.aggregatedStatus?.length === 2 &&
          status.aggregatedStatus.every(({ health }) => health === 'Healthy'),
        signal,
      )
    },
  },
  {
    title: 'another image on the hub reaches both',
    act: ({ hub }, signal) =>
      hub.resource(deployments).patch({ ...web, type: 'merge', patch: image('web:2') }, signal),
  },
  {
    title: 'changes at the edge are reverted, even to the node selector',
    act: ({ edge }, signal) =>
      edge
        .resource(deployments)
        .patch(
          { ...web, namespace: placeOf('reef'), type: 'merge', patch: image('web:own') },
          signal,
        ),
  },
  {
    title: 'objects deleted at the edge come back',
    act: ({ edge }, signal) =>
      edge.resource(deployments).delete({ ...web, namespace: placeOf('shore') }, signal),
  },
  {
    title: 'a node moves to another branch, and both are counted again',
    act: ({ edge }, signal) => moveNode(edge, { name: 'n2', branch: 'shore' }, signal),
  },
  {
    title: 'the policy means one branch alone, and the other loses it',
    act: ({ hub }, signal) => {
      const placement = { clusterAffinity: { clusterNames: [`${parent}-shore`] } }
      return hub
        .resource(policies)
        .patch({ ...web, type: 'merge', patch: { spec: { placement } } }, signal)
    },
  },
  {
    title: 'the last node leaves a branch: its cluster goes',
    async act({ hub, edge }, signal) {
      await edge.resource(resources.nodes).delete({ name: 'n4' }, signal)
      await untilGone(hub, `${parent}-cove`, signal)
    },
  },
  {
    title: 'the Deployment is deleted on the hub, and nothing of it is left',
    act: ({ hub }, signal) => hub.resource(deployments).delete(web, signal),
  },
  {
    title: 'no node is of a branch any more: all of their clusters go',
    async act({ hub, edge }, signal) {
      const { items } = await edge.resource(resources.nodes).list({}, signal)
      for (const { metadata } of items) {
        await moveNode(edge, { name: metadata.name ?? '', branch: null }, signal)
      }
      for (const branch of branches) await untilGone(hub, `${parent}-${branch}`, signal)
    },
  },
]

/** Takes a picture of the control plane and the edge cluster. */
export async function takeVirtualPicture(
  { hub, edge }: VirtualWorld,
  signal: AbortSignal,
): Promise<FleetPicture> {
  const seen = await pictureOf(
    [
      ...templates.map((resource) => shelf('hub', hub, resource, storyNamespace)),
      shelf('hub', hub, resourceBindingResource, storyNamespace),
      ...branches.flatMap((branch) => [
        shelf(branch, hub, workResource, executionNamespace(`${parent}-${branch}`)),
        ...templates.map((resource) => shelf(branch, edge, resource, placeOf(branch))),
      ]),
    ],
    signal,
  )
  const clusters: Record<string, unknown> = {}
  const { items } = await hub.resource(clusterResource).list({}, signal)
  for (const { metadata, spec, status } of items) {
    const { id: _id, ...said } = spec
    const { nodeSummary, resourceSummary, conditions = [], kubernetesVersion } = status ?? {}
    const states = conditions.flatMap(({ type, status: is, reason }) =>
      type === 'Connected' ? [] : `${type} ${is} ${reason}`,
    )
    const facts = { nodeSummary, resourceSummary, kubernetesVersion, states: states.toSorted() }
    clusters[`cluster ${metadata.name ?? ''}`] = plain({ spec: said, ...facts })
  }
  const { items: nodes } = await edge.resource(resources.nodes).list({}, signal)
  const labels = nodes.map(({ metadata }) => [metadata.name ?? '', metadata.labels])
  return { ...withoutParent(seen), ...clusters, nodes: plain(Object.fromEntries(labels)) }
}

/** Removes the label of each Work's virtual cluster, which our hub sets and Karmada does not know. */
function withoutParent(picture: FleetPicture): FleetPicture {
  return JSON.parse(
    JSON.stringify(picture, (key, value: unknown) =>
      key === 'hub.skerry.io/virtual-of' ? undefined : value,
    ),
  )
}

async function moveNode(
  edge: ClusterClient,
  { name, branch }: { name: string; branch: string | null },
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { labels: { [branchKey]: branch } } }
  await edge.resource(resources.nodes).patch({ name, type: 'merge', patch }, signal)
}

async function untilGone(hub: ClusterClient, name: string, signal: AbortSignal): Promise<void> {
  await untilFound(
    () => hub.resource(clusterResource).list({}, signal),
    ({ items }) => items.every(({ metadata }) => metadata.name !== name),
    signal,
  )
}

/** Reports as the controllers of the edge would: the pods of all replicas run. */
async function reportReady(
  edge: ClusterClient,
  { branch, replicas }: { branch: string; replicas: number },
  signal: AbortSignal,
): Promise<void> {
  const key = { ...web, namespace: placeOf(branch) }
  const { metadata } = await untilFound(
    () => edge.resource(deployments).get(key, signal),
    ({ spec }) => isJsonObject(spec) && spec['replicas'] === replicas,
    signal,
  )
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas }
  const observed = { availableReplicas: replicas, observedGeneration: metadata.generation }
  const patch = { status: { ...counts, ...observed } }
  await edge.resource(deployments).patchStatus({ ...key, type: 'merge', patch }, signal)
}

function image(name: string) {
  const containers = [
    { name: 'web', image: name, envFrom: [{ configMapRef: { name: 'settings' } }] },
  ]
  return { spec: { template: { spec: { containers } } } }
}

const branchSet = {
  apiVersion: 'edge.skerry.io/v1alpha1',
  kind: 'VirtualClusterSet',
  metadata: { name: 'branches' },
  spec: {
    source: { label: { key: branchKey } },
    template: { provider: 'branches' },
    gracePeriodSeconds: 0,
  },
}

const settings: AnyObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: storyNamespace, name: 'settings' },
  data: { colour: 'green' },
}

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...web, labels: { app: 'web' } },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, ...image('web:1').spec.template },
  },
}

const policy: AnyObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: web,
  spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
    propagateDeps: true,
    placement: {
      clusterAffinity: { clusterNames: [`${parent}-reef`, `${parent}-shore`] },
      replicaScheduling: {
        replicaSchedulingType: 'Divided',
        replicaDivisionPreference: 'Weighted',
        weightPreference: {
          staticWeightList: [
            { targetCluster: { clusterNames: [`${parent}-reef`] }, weight: 1 },
            { targetCluster: { clusterNames: [`${parent}-shore`] }, weight: 3 },
          ],
        },
      },
    },
  },
}
