import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isStatusError, type AnyObject } from '@skerry/api'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  anyObjects,
  createCluster,
  resources,
  type ClusterClient,
  type TypedResource,
} from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { startTestApiServer } from '@skerry/testing'
import { runKarmadaAgent, type KarmadaAgentOptions } from '../../../roles/agent/karmada-agent.ts'
import { leave } from '../../../roles/agent/leave.ts'
import { startStoryKarmada, untilNoRights } from './story-karmada.ts'
import { untilFound } from './until-found.ts'

const name = 'shop-7'
const web = { namespace: 'default', name: 'web' }
const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }
const storyMs = 240_000
const dayMs = 86_400_000

const policies: TypedResource<AnyObject> = {
  group: 'policy.karmada.io',
  version: 'v1alpha1',
  resource: 'propagationpolicies',
  isNamespaced: true,
}

/** The real Karmada, and the agent that the program runs by `skerry agent --karmada`. */
export async function playRegister(): Promise<void> {
  await using karmada = await startStoryKarmada()
  await using site = await startTestApiServer()
  const signal = AbortSignal.timeout(storyMs)
  const local = createCluster(site.transport, deps)
  const own = join(karmada.directory, 'agent')
  const { ca, cert, key } = site.credentials
  const credentials = async () => ({ certificate: cert, key })
  const options: KarmadaAgentOptions = {
    directory: own,
    clusterName: name,
    karmada: { server: karmada.url },
    enrolment: {
      tokenFile: undefined,
      tokenText: karmada.createToken(),
      caHash: karmada.caHash,
    },
    api: { server: site.url, certificateAuthority: ca, credentials },
  }
  await play({ options, hub: karmada.hub, local }, signal)
}

interface Stage {
  readonly options: KarmadaAgentOptions
  readonly hub: ClusterClient
  readonly local: ClusterClient
}

async function play(stage: Stage, signal: AbortSignal): Promise<void> {
  const { hub, local, options } = stage
  const say = (text: string): void => console.log(`ok: ${text}`)
  {
    await using _agent = startAgent(options, 0, signal)
    await untilReady(hub, signal)
    say('registered by token: Karmada says that the cluster is ready')
    await hub.resource(policies).create(policy, signal)
    await hub.resource(anyObjects(resources.deployments)).create(deployment, signal)
    await untilFound(
      () => local.resource(resources.deployments).get(web, signal),
      () => true,
      signal,
    )
    say('a policy of Karmada places a Deployment, and the agent has made it')
  }
  const path = join(options.directory, 'agent.crt')
  const first = await readFile(path, 'utf8')
  const none = { tokenFile: undefined, tokenText: undefined, caHash: undefined }
  const registered = { ...options, enrolment: none }
  {
    // The agent runs 340 days later: Karmada's certificate is valid for a year, and the agent renews it
    // between 70 and 90 % of that.
    await using _agent = startAgent(registered, 340 * dayMs, signal)
    await untilFound(
      () => readFile(path, 'utf8'),
      (text) => text !== first,
      signal,
    )
    say('by its certificate alone the agent has got the next one')
  }
  await leaveIt(stage, signal)
  const left = await local.resource(resources.deployments).get(web, signal).catch(notFound)
  assert.equal(left, undefined)
  const { items } = await hub.resource(clusterResource).list({}, signal)
  assert.deepEqual(items, [])
  say('it has left: no Deployment at the site, no Cluster at Karmada')
  await untilNoRights(hub, `system:karmada:${name}:`, signal)
  say('and of its rights there is none left')
}

function startAgent(
  options: KarmadaAgentOptions,
  aheadMs: number,
  signal: AbortSignal,
): AsyncDisposable {
  const stop = linkedSignal(signal)
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const context = { ...deps, clock, metrics: createMetrics(), signal: stop.signal }
  const running = runKarmadaAgent(options, context).catch((error: unknown) => {
    if (!stop.signal.aborted) console.error('the agent has ended', error)
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the agent is stopped'))
      await running
    },
  }
}

async function leaveIt({ options }: Stage, signal: AbortSignal): Promise<void> {
  const { karmada, directory, api } = options
  assert.ok('server' in karmada)
  const onWaiting = (what: string): void => console.log(`waiting for ${what}`)
  const from = { karmada: karmada.server }
  const asked = { from, directory, api, clusterName: name, keepsObjects: false, onWaiting }
  const left = await leave(asked, { ...deps, metrics: createMetrics(), signal })
  assert.deepEqual(left, { rightsAreGone: true })
}

async function untilReady(hub: ClusterClient, signal: AbortSignal): Promise<void> {
  await untilFound(
    () => hub.resource(clusterResource).get({ name }, signal),
    ({ status }) =>
      (status?.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True'),
    signal,
  )
}

function notFound(error: unknown): undefined {
  if (!isStatusError(error, 'NotFound')) throw error
}

const policy: AnyObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: web,
  spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
    placement: { clusterAffinity: { clusterNames: [name] } },
  },
}

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: web,
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    },
  },
}
