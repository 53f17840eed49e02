import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, ResourceClaim } from '@skerry/api'
import { resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld, type ControllerWorld } from '../testing/controller-world.ts'
import { claimFromTemplate } from './pod-claims.ts'

const namespace = 'default'
const finalizer = 'resource.kubernetes.io/delete-protection'
const controllers = ['resourceclaim-controller']
const devices = { requests: [{ name: 'card', exactly: { deviceClassName: 'cards' } }] }
const template = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: { name: 'card', namespace },
  spec: { metadata: { labels: { team: 'a' } }, spec: { devices } },
}

function pod(name: string, claim: object, nodeName?: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      containers: [{ name: 'main', image: 'a' }],
      resourceClaims: [{ name: 'gpu', ...claim }],
    },
  }
}

function allocated(
  claim: ResourceClaim,
  reservedFor: { name: string; uid: string }[],
): ResourceClaim {
  const results = [{ request: 'card', driver: 'cards.example.com', pool: 'a', device: 'card-0' }]
  const consumers = reservedFor.map((each) => ({ resource: 'pods', ...each }))
  return {
    ...claim,
    status: { allocation: { devices: { results } }, reservedFor: consumers },
  }
}

async function protect(world: ControllerWorld, name: string): Promise<ResourceClaim> {
  const patch = { metadata: { finalizers: [finalizer] } }
  return await world
    .client(resources.resourceClaims)
    .patch({ namespace, name, type: 'merge', patch }, world.signal)
}

test('a pod gets its claim from a template, once there is one, and its status names it', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers,
    behaviour: () => 'stuck',
  })
  const wanted = { resourceClaimTemplateName: 'card' }
  const created = await world.client(resources.pods).create(pod('web', wanted), world.signal)
  const event = await world.eventually(resources.events, ([each]) => each)
  assert.equal(event.reason, 'FailedResourceClaimCreation')
  assert.equal(
    event.message,
    'PodResourceClaim gpu: resource claim template "card": resourceclaimtemplate.resource.k8s.io "card" not found',
  )
  await world.client(resources.resourceClaimTemplates).create(template, world.signal)
  const claim = await world.eventually(resources.resourceClaims, ([each]) => each)
  assert.match(claim.metadata.name ?? '', /^web-gpu-.{5}$/)
  assert.deepEqual(claim.metadata.labels, { team: 'a' })
  assert.deepEqual(claim.metadata.annotations, { 'resource.kubernetes.io/pod-claim-name': 'gpu' })
  assert.deepEqual(claim.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: created.metadata.uid, controller: true },
  ])
  const statuses = await world.eventually(
    resources.pods,
    ([each]) => each?.status?.resourceClaimStatuses,
  )
  assert.deepEqual(statuses, [{ name: 'gpu', resourceClaimName: claim.metadata.name }])
})

test('a claim made for a pod goes when the pod is done, and a lost one is made again', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers,
    behaviour: () => 'stuck',
  })
  const claims = world.client(resources.resourceClaims)
  await world.client(resources.resourceClaimTemplates).create(template, world.signal)
  await world
    .client(resources.pods)
    .create(pod('web', { resourceClaimTemplateName: 'card' }), world.signal)
  const first = await world.eventually(
    resources.pods,
    ([each]) => each?.status?.resourceClaimStatuses?.at(0)?.resourceClaimName,
  )
  await claims.delete({ namespace, name: first }, world.signal)
  const second = await world.eventually(resources.pods, ([each]) => {
    const name = each?.status?.resourceClaimStatuses?.at(0)?.resourceClaimName
    return name !== first ? name : undefined
  })
  await world.eventually(resources.resourceClaims, (all) =>
    all.some(({ metadata }) => metadata.name === second) ? true : undefined,
  )
  const patch = { status: { phase: 'Succeeded' } }
  await world
    .client(resources.pods)
    .patchStatus({ namespace, name: 'web', type: 'merge', patch }, world.signal)
  await world.eventually(resources.resourceClaims, (all) => all.length === 0 || undefined)
  // Nothing creates the claim again: a later write of the pod finds none.
  const labels = { metadata: { labels: { seen: 'yes' } } }
  await world
    .client(resources.pods)
    .patch({ namespace, name: 'web', type: 'merge', patch: labels }, world.signal)
  await world.eventually(resources.pods, ([each]) => each?.metadata.labels?.['seen'])
  assert.deepEqual((await claims.list({ namespace }, world.signal)).items, [])
})

test('a shared claim is reserved for bound pods, and released when the last is gone', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers,
    behaviour: () => 'stuck',
  })
  const claims = world.client(resources.resourceClaims)
  const pods = world.client(resources.pods)
  const metadata = { name: 'shared', namespace }
  await claims.create(
    { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata, spec: { devices } },
    world.signal,
  )
  const held = await protect(world, 'shared')
  await claims.updateStatus(allocated(held, [{ name: 'gone', uid: 'nobody' }]), world.signal)
  await world.eventually(resources.resourceClaims, ([each]) =>
    each?.status?.allocation === undefined && each?.metadata.finalizers === undefined
      ? true
      : undefined,
  )
  const names = { resourceClaimName: 'shared' }
  const web = await pods.create(pod('web', names, 'node-a'), world.signal)
  const again = await protect(world, 'shared')
  await claims.updateStatus(allocated(again, []), world.signal)
  const reserved = await world.eventually(resources.resourceClaims, ([each]) =>
    each?.status?.reservedFor?.length === 1 ? each : undefined,
  )
  assert.deepEqual(reserved.status?.reservedFor, [
    { resource: 'pods', name: 'web', uid: web.metadata.uid },
  ])
  assert.notEqual(reserved.status?.allocation, undefined)
  await pods.delete({ namespace, name: 'web', gracePeriodSeconds: 0 }, world.signal)
  const free = await world.eventually(resources.resourceClaims, ([each]) =>
    each?.status?.reservedFor === undefined && each?.metadata.finalizers === undefined
      ? each
      : undefined,
  )
  assert.equal(free.status?.allocation, undefined)
})

test('both parts of a long name are in the name of the claim', () => {
  const long = pod('p'.repeat(60), {})
  const made = claimFromTemplate(long, 'c'.repeat(40), template)
  assert.equal(made.metadata.generateName, `${'p'.repeat(33)}-${'c'.repeat(22)}`)
})
