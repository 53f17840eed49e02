import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '@skerry/base'
import { until } from '@skerry/testing'
import { buildKubernetes } from '../upstream/build-upstream.ts'
import { startUpstream, type RunningUpstream } from '../upstream/run-upstream.ts'
import { buildOfEtcd } from './build-judges.ts'
import type { JudgeTarget, Verdict } from './verdict.ts'

const versions = ['1.34.4', '1.35.4', '1.36.3']
const objectsCount = 600
const inFlight = 32
const roundsOfRates = 3
const objectsOfRate = 1_500

interface Answer {
  readonly status: number
  readonly body: string
}

type Ask = (method: string, path: string, body?: object) => Promise<Answer>

/** Starts each version of kube-apiserver on the server, unmodified, and asks it for what its store must do. */
export async function judgeApiServers({ server, more }: JudgeTarget): Promise<Verdict> {
  const failed: string[] = []
  let passed = 0
  for (const version of more.length > 0 ? more : versions) {
    await onApiServer({ version, server }, async (ask) => {
      for (const [title, check] of Object.entries(checks)) {
        try {
          await check(ask)
          passed += 1
        } catch (error) {
          failed.push(`${version} ${title}: ${messageOf(error)}`)
        }
      }
    })
  }
  return { passed, failed }
}

/** Measures creates of kube-apiserver on the server and on an etcd in turns, each of them durable. */
export async function compareCreateRates({ server, more }: JudgeTarget): Promise<Verdict> {
  const version = more[0] ?? '1.36.3'
  const etcd = join(await buildOfEtcd('etcd'), 'etcd')
  const rates: Record<'ours' | 'etcd', number[]> = { ours: [], etcd: [] }
  const programs = { ours: server, etcd }
  // The code of this client becomes fast in a first round, which does not count.
  for (let round = 0; round <= roundsOfRates; round += 1) {
    const turns = round % 2 === 0 ? (['ours', 'etcd'] as const) : (['etcd', 'ours'] as const)
    for (const name of turns) {
      const rate = await onApiServer({ version, server: programs[name] }, createRate)
      if (round > 0) rates[name].push(rate)
      console.log(`round ${round}: ${name} ${rate.toFixed(0)} creates/s`)
    }
  }
  const [ours, theirs] = [median(rates.ours), median(rates.etcd)]
  console.log(`median: ours ${ours.toFixed(0)}, etcd ${theirs.toFixed(0)} creates/s`)
  const isEnough = ours >= theirs
  const failed = isEnough ? [] : [`create rate is ${(ours / theirs).toFixed(2)} of etcd's`]
  return { passed: isEnough ? 1 : 0, failed }
}

async function onApiServer<T>(
  { version, server }: { version: string; server: string },
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const bin = await buildKubernetes(version, ['kube-apiserver'])
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-apiserver-'))
  try {
    const own = { etcdProgram: server, isDurable: true }
    const apiServerArguments = ['--etcd-compaction-interval=10s']
    await using upstream = await startUpstream({ bin, directory, ...own, apiServerArguments })
    using agent = disposable(new Agent({ keepAlive: true, maxSockets: inFlight }))
    return await work(asker(upstream, agent.agent))
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

function disposable(agent: Agent): Disposable & { readonly agent: Agent } {
  return { agent, [Symbol.dispose]: () => agent.destroy() }
}

function asker({ url, credentials }: RunningUpstream, agent: Agent): Ask {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json'
      const headers = { 'content-type': type, accept: 'application/json' }
      const options = { ...credentials, agent, method, headers }
      const sent = request(`${url}${path}`, options, (answer) => {
        text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, body: read }), reject)
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
}

const maps = '/api/v1/namespaces/default/configmaps'

function configMap(name: string, data: Record<string, string> = { value: '1' }): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
}

async function must(answer: Promise<Answer>, ...statuses: number[]): Promise<ListBody> {
  const { status, body } = await answer
  if (statuses.includes(status)) return JSON.parse(body) as ListBody
  throw new Error(`status ${status} instead of ${statuses.join(' or ')}: ${body.slice(0, 300)}`)
}

/** The fields of objects and lists that are looked at. */
interface ListBody {
  metadata: { resourceVersion: string; continue?: string; name?: string }
  items?: { metadata: { name: string; resourceVersion: string } }[]
  status?: { conditions?: { type: string; status: string }[] }
}

const checks: Readonly<Record<string, (ask: Ask) => Promise<void>>> = Object.freeze({
  'creates objects and lists them in chunks': async (ask: Ask) => {
    await createMany(ask, 'chunk', objectsCount)
    let [path, found] = [`${maps}?limit=100`, 0]
    for (;;) {
      const list = await must(ask('GET', path), 200)
      found += list.items?.filter(({ metadata }) => metadata.name.startsWith('chunk-')).length ?? 0
      if (!list.metadata.continue) break
      path = `${maps}?limit=100&continue=${encodeURIComponent(list.metadata.continue)}`
    }
    if (found !== objectsCount) throw new Error(`${found} of ${objectsCount} objects listed`)
  },
  'lists an exact old revision': async (ask: Ask) => {
    const before = await must(ask('GET', maps), 200)
    await must(ask('POST', maps, configMap('later')), 201)
    const old = `resourceVersion=${before.metadata.resourceVersion}&resourceVersionMatch=Exact`
    const list = await must(ask('GET', `${maps}?${old}`), 200)
    if (list.items?.length !== before.items?.length) throw new Error('the old list has changed')
  },
  'refuses a write to an old version': async (ask: Ask) => {
    const made = await must(ask('POST', maps, configMap('raced')), 201)
    const changed = { ...made, data: { value: '2' } }
    await must(ask('PUT', `${maps}/raced`, changed), 200)
    await must(ask('PUT', `${maps}/raced`, { ...changed, data: { value: '3' } }), 409)
    await must(ask('POST', maps, configMap('raced')), 409)
  },
  'watches from a revision without a gap': async (ask: Ask) => {
    const { metadata } = await must(ask('GET', `${maps}?limit=1`), 200)
    await createMany(ask, 'seen', 100)
    const since = `watch=1&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=3`
    const { body } = await ask('GET', `${maps}?${since}`)
    const seen = body.split('\n').filter((line) => /"name":"seen-/.test(line)).length
    if (seen !== 100) throw new Error(`${seen} of 100 events`)
  },
  'applies on the server and deletes collections': async (ask: Ask) => {
    const applied = configMap('applied', { a: '1' })
    await must(ask('PATCH', `${maps}/applied?fieldManager=judge`, applied), 201)
    await must(ask('PATCH', `${maps}/applied?fieldManager=judge`, configMap('applied')), 200)
    await must(ask('DELETE', maps), 200)
    const left = await must(ask('GET', maps), 200)
    const ours = left.items?.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt') ?? []
    if (ours.length > 0) throw new Error(`${ours.length} objects are left`)
  },
  'keeps custom resources': async (ask: Ask) => {
    const all = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await must(ask('POST', all, definition), 201)
    await until(async () => {
      const { status } = await must(ask('GET', `${all}/boats.judge.example`), 200)
      return status?.conditions?.some(
        ({ type, status: is }) => type === 'Established' && is === 'True',
      )
    })
    const boats = '/apis/judge.example/v1/namespaces/default/boats'
    const boat = { apiVersion: 'judge.example/v1', kind: 'Boat', metadata: { name: 'dinghy' } }
    await until(async () => (await ask('POST', boats, boat)).status === 201)
    await must(ask('DELETE', `${all}/boats.judge.example`), 200)
  },
  'keeps events under a lease': async (ask: Ask) => {
    const involvedObject = { kind: 'Pod', name: 'none', namespace: 'default' }
    const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'judged' }, involvedObject }
    await must(ask('POST', '/api/v1/namespaces/default/events', event), 201)
    await must(ask('GET', '/api/v1/namespaces/default/events/judged'), 200)
  },
  'compacts, and refuses what is compacted': async (ask: Ask) => {
    const first = await must(ask('POST', maps, configMap('old')), 201)
    const revision = first.metadata.resourceVersion
    const exact = `${maps}?resourceVersion=${revision}&resourceVersionMatch=Exact`
    for (let turn = 0; turn < 60; turn += 1) {
      await must(ask('POST', maps, configMap(`turn-${turn}`)), 201)
      const { status } = await ask('GET', exact)
      if (status === 410) return
      if (status !== 200) throw new Error(`status ${status}`)
      await pause(1_000)
    }
    throw new Error('still listed after a minute')
  },
})

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.judge.example' },
  spec: {
    group: 'judge.example',
    names: { kind: 'Boat', plural: 'boats', singular: 'boat', listKind: 'BoatList' },
    scope: 'Namespaced',
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
}

async function createMany(ask: Ask, prefix: string, count: number): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      await must(ask('POST', maps, configMap(`${prefix}-${at}`)), 201)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
}

async function createRate(ask: Ask): Promise<number> {
  await createMany(ask, 'warm', 300)
  const startMs = performance.now()
  await createMany(ask, 'rate', objectsOfRate)
  return (objectsOfRate * 1_000) / (performance.now() - startMs)
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}
