import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import {
  linkedSignal,
  runAll,
  silentLogger,
  simulatedClock,
  systemClock,
  systemRandom,
} from '@skerry/base'
import { createCluster, createEventSink, ifThere, type ClusterClient as Api } from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import { builtinKinds } from '@skerry/kinds'
import { startTestApiServer, until } from '@skerry/testing'
import { edgeClusterKind } from '../kind/edge-cluster-kind.ts'
import { edgeClusterResource, type StepStatus } from '../kind/edge-cluster.ts'
import { edgeJobKinds } from '../kind/edge-job-kind.ts'
import {
  edgeJobClusterResource,
  edgeJobResource,
  type EdgeJob,
  type EdgeJobCluster,
  type EdgeJobSpec,
} from '../kind/edge-job.ts'
import { configurationPatch, type Configuration } from '../kind/role-options.ts'
import { StepError, type HubSide, type MachineContext } from '../contract/step.ts'
import { resources } from '@skerry/client'
import { jobSteps } from '../steps/job-steps-table.ts'
import { FakeCluster, fakeProgramFiles, type FakeProgram } from '../testing/fake-machine.ts'
import { edgeJobClusterController } from './edge-job-cluster-controller.ts'
import { edgeJobController } from './edge-job-controller.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(240_000)
const namespace = 'default'
const old = '0.1.0-aaaaaaaaaaaa'
const good = '0.2.0-bbbbbbbbbbbb'
const bad = '0.2.1-cccccccccccc'
const programs: Readonly<Record<string, FakeProgram>> = {
  [old]: { schema: 1 },
  [good]: { schema: 1 },
  [bad]: { schema: 2, isBroken: true },
}

/** An API server with the kinds, fake machines, and the controllers until they are killed. */
class Scene implements AsyncDisposable {
  readonly clock = simulatedClock(Date.parse('2026-01-01T00:00:00Z'))
  readonly clusters: Record<string, FakeCluster> = {}
  readonly recorded: string[] = []
  readonly api: Api
  /** Called before a step's first command; it may kill the hub. */
  onStep: ((name: string) => void) | undefined
  readonly #stack = new AsyncDisposableStack()
  #hub: { readonly stop: AbortController; readonly running: Promise<unknown> } | undefined

  private constructor(api: Api) {
    this.api = api
  }

  static async start(
    layout: Readonly<Record<string, readonly string[]>>,
    masters = 1,
  ): Promise<Scene> {
    const kinds = await builtinKinds()
    const all = [...kinds, edgeClusterKind(kinds), ...edgeJobKinds(kinds)]
    const server = await startTestApiServer({ kinds: all })
    const scene = new Scene(createCluster(server.transport, deps))
    scene.#stack.use(server)
    const metadata = { name: 'ssh', namespace }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { password: btoa('x') } }
    await scene.api.resource(resources.secrets).create(secret, soon())
    for (const [name, addresses] of Object.entries(layout)) {
      await scene.#addCluster(name, { addresses, masters })
    }
    scene.startHub()
    return scene
  }

  /** Several masters are members of an etcd. */
  async #addCluster(
    name: string,
    { addresses, masters }: { readonly addresses: readonly string[]; readonly masters: number },
  ): Promise<void> {
    const cluster = new FakeCluster(addresses, { programs, clock: this.clock, masters })
    this.clusters[name] = cluster
    const credentials = { name: 'ssh' }
    const hostKeys = [`SHA256:${'a'.repeat(43)}`]
    const machines = addresses.map((address, at) => {
      const role = at < masters ? ('Master' as const) : ('Node' as const)
      return { addresses: [address], credentials, role, hostKeys }
    })
    const edges = this.api.resource(edgeClusterResource)
    const metadata = { name, namespace, labels: { tier: 'shop', branch: name } }
    const kind = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster' }
    const store = masters === 1 ? {} : { store: { type: 'Etcd' as const } }
    await edges.create({ ...kind, metadata, spec: { machines, ...store } }, soon())
    const steps: StepStatus[] = addresses.map((machine) => ({
      name: 'NodeReady',
      machine,
      state: 'Done',
    }))
    const members = cluster.machines.slice(0, masters).map((each, at) => {
      each.isInEtcd = masters > 1
      const site = at === 0 ? 'Founds' : 'Joins'
      return { address: each.address, role: 'Master', site, member: each.name }
    })
    const known = masters === 1 ? {} : { machines: members }
    const patch = { status: { phase: 'Ready', steps, ...known } }
    await edges.patchStatus({ namespace, name, type: 'merge', patch }, soon())
  }

  startHub(): void {
    const stop = linkedSignal(soon())
    const own = { ...deps, clock: this.clock }
    const informers = createInformerSet(this.api, own)
    const events = createEventSink(this.api, own)
    const hub = this.#hubSide()
    const definitions = [
      edgeJobController(),
      edgeJobClusterController({
        jobSteps: (order) =>
          jobSteps(order).map((step) =>
            step.place !== 'machines'
              ? step
              : {
                  ...step,
                  act: async (context: MachineContext) => {
                    this.onStep?.(`before ${step.name}@${context.machine.address}`)
                    context.signal.throwIfAborted()
                    const result = await step.act(context)
                    this.onStep?.(`after ${step.name}@${context.machine.address}`)
                    context.signal.throwIfAborted()
                    return result
                  },
                },
          ),
        hub,
        openShell: async ({ address }) => {
          const machine = this.machine(address)
          await machine.shell().run(['test', '-e', '/'])
          return machine.shell()
        },
      }),
    ]
    const running = runAll(stop.signal, [
      (scope) => informers.run(scope),
      (scope) => events.run(scope),
      ...definitions.map(
        (definition) => (scope: AbortSignal) =>
          runController(definition, { ...own, cluster: this.api, informers, events }, scope),
      ),
    ])
    running.catch(() => undefined)
    this.#hub = { stop, running }
  }

  #hubSide(): HubSide {
    const part: Partial<HubSide> = {
      async program(_architecture, _signal, wish) {
        const wanted = wish !== undefined && 'version' in wish ? wish.version : old
        const version = Object.keys(programs).find((each) => each.startsWith(wanted))
        if (version === undefined) throw new StepError(`no ${wanted}`, { isFinal: true })
        return fakeProgramFiles(version)
      },
      recordProgram: async (_edge, { address, version }) =>
        void this.recorded.push(`${address} ${version}`),
      recordConfiguration: async ({ metadata: { name = '' } }, given) => {
        const patch = { status: { configuration: configurationPatch(given) } }
        const request = { namespace, name, type: 'merge' as const, patch }
        await this.api.resource(edgeClusterResource).patchStatus(request, soon())
      },
      read: async () => Buffer.from('{"auths":{"registry":{"auth":"dXNlcjpzM2NyM3Q="}}}'),
    }
    // No step of a job asks for more.
    return part as HubSide
  }

  killHub(): void {
    this.#hub?.stop.abort(new Error('killed'))
  }

  async restartHub(): Promise<void> {
    this.killHub()
    await this.#hub?.running.catch(() => undefined)
    this.startHub()
  }

  machine(address: string): FakeCluster['machines'][number] {
    const found = Object.values(this.clusters)
      .flatMap(({ machines }) => machines)
      .find((each) => each.address === address)
    assert.ok(found, address)
    return found
  }

  versions(): Record<string, string> {
    const all = Object.values(this.clusters).flatMap(({ machines }) => machines)
    return Object.fromEntries(all.map((each) => [each.address, each.version]))
  }

  async create(spec: Partial<EdgeJobSpec>, name = 'job'): Promise<void> {
    await this.api.resource(edgeJobResource).create(jobNamed(name, spec), soon())
  }

  async job(name = 'job'): Promise<EdgeJob> {
    return this.api.resource(edgeJobResource).get({ namespace, name }, soon())
  }

  async part(cluster: string, name = 'job'): Promise<EdgeJobCluster | undefined> {
    const key = { namespace, name: `${name}.${cluster}` }
    return ifThere(this.api.resource(edgeJobClusterResource).get(key, soon()))
  }

  async phases(cluster: string, name = 'job'): Promise<string[]> {
    const part = await this.part(cluster, name)
    return (part?.status?.machines ?? []).map(({ address, phase }) => `${address} ${phase}`)
  }

  async annotate(key: string, value: string): Promise<void> {
    const patch = { metadata: { annotations: { [`hub.skerry.io/${key}`]: value } } }
    const request = { namespace, name: 'job', type: 'merge' as const, patch }
    await this.api.resource(edgeJobResource).patch(request, soon())
  }

  /** Lets time pass until it is so. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    await until(async () => {
      await this.clock.advance(500)
      return isSo()
    })
  }

  async untilPhase(phase: string, name = 'job'): Promise<EdgeJob> {
    await this.until(async () => (await this.job(name)).status?.phase === phase)
    return this.job(name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.killHub()
    await this.#hub?.running.catch(() => undefined)
    await this.#stack.disposeAsync()
  }
}

function jobNamed(name: string, spec: Partial<EdgeJobSpec>): EdgeJob {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeJob',
    metadata: { name, namespace },
    spec: { clusters: { labelSelector: { matchLabels: { tier: 'shop' } } }, ...spec },
  }
}

const two = { 'branch-1': ['10.0.0.1', '10.0.0.2'], 'branch-2': ['10.0.1.1', '10.0.1.2'] }
const upgrade = { upgrade: { version: '0.2.0' }, timeoutSeconds: 20 }

test('a job upgrades the masters first, then one node after another, and keeps one program besides', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2', '10.0.0.3'] })
  const began: string[] = []
  scene.onStep = (text) => void began.push(text)
  await scene.create(upgrade)
  const job = await scene.untilPhase('Completed')
  assert.equal(job.status?.message, '3 done')
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([good]))
  const changes = began.filter((text) => /before (SwitchProgram|MachineReady)/.test(text))
  assert.deepEqual(
    changes.map((text) => text.slice('before '.length)),
    ['1', '2', '3'].flatMap((end) => [`SwitchProgram@10.0.0.${end}`, `MachineReady@10.0.0.${end}`]),
  )
  assert.deepEqual(
    scene.recorded.toSorted(),
    ['1', '2', '3'].map((end) => `10.0.0.${end} ${good}`),
  )
  const master = scene.machine('10.0.0.1')
  assert.deepEqual(master.below('/usr/local/lib/skerry').toSorted(), [old, good])
  assert.equal(master.below('/var/lib/skerry/site/backups').length, 1)
  assert.equal(scene.machine('10.0.0.2').below('/var/lib/skerry/site/backups').length, 0)
  const steps = (await scene.part('branch-1'))?.status?.steps ?? []
  assert.ok(steps.every(({ state }) => state === 'Done' || state === 'Skipped'))
})

test('a job by label leaves clusters without the label as they are', async () => {
  await using scene = await Scene.start(two)
  const labelSelector = { matchLabels: { tier: 'shop', branch: 'branch-2' } }
  await scene.create({ ...upgrade, clusters: { labelSelector } })
  await scene.untilPhase('Completed')
  assert.equal(await scene.part('branch-1'), undefined)
  const changed = { '10.0.1.1': good, '10.0.1.2': good }
  assert.deepEqual(scene.versions(), { '10.0.0.1': old, '10.0.0.2': old, ...changed })
})

test('a cluster that is away is pending, holds up no other, and is upgraded when it is back', async () => {
  await using scene = await Scene.start(two)
  for (const { address } of scene.clusters['branch-1']?.machines ?? []) {
    scene.machine(address).isAway = true
  }
  await scene.create({ ...upgrade, clustersAtOnce: 1 })
  const job = await scene.untilPhase('Waiting')
  await scene.until(async () => (await scene.job()).status?.totals?.done === 2)
  assert.deepEqual(await scene.phases('branch-1'), ['10.0.0.1 Pending', '10.0.0.2 Pending'])
  assert.match((await scene.part('branch-1'))?.status?.message ?? '', /nobody answers/)
  assert.equal(job.status?.totals?.failed, 0)
  // Days later it is looked for again, and no attempt was counted.
  await scene.clock.advance(3_600_000)
  for (const { address } of scene.clusters['branch-1']?.machines ?? []) {
    scene.machine(address).isAway = false
  }
  await scene.untilPhase('Completed')
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([good]))
})

test('a machine that does not become Ready gets its old program and its store back, and no further one begins', async () => {
  await using scene = await Scene.start(two)
  await scene.create({ upgrade: { version: bad }, timeoutSeconds: 20, clustersAtOnce: 1 })
  const job = await scene.untilPhase('Failed')
  assert.deepEqual(await scene.phases('branch-1'), ['10.0.0.1 RolledBack', '10.0.0.2 Pending'])
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([old]))
  const master = scene.machine('10.0.0.1')
  assert.deepEqual([master.restored, master.schema, master.roles.size], [1, 1, 2])
  assert.equal(scene.machine('10.0.1.1').restarts, 0)
  assert.equal(job.status?.totals?.rolledBack, 1)
  assert.match(
    job.status?.message ?? '',
    /1 rolled back; branch-1: 10.0.0.1: MachineReady: .*not Ready after 20 s/,
  )
  const [failure] = job.status?.failures ?? []
  assert.deepEqual(
    [failure?.cluster, failure?.machine, failure?.step],
    ['branch-1', '10.0.0.1', 'MachineReady'],
  )
  assert.deepEqual(scene.recorded, [`10.0.0.1 ${old}`])
})

test('a site whose store is in etcd is upgraded after a snapshot, which a roll-back does not restore', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2'] })
  const master = scene.machine('10.0.0.1')
  master.isInEtcd = true
  await scene.create(upgrade)
  await scene.untilPhase('Completed')
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([good]))
  const steps = (await scene.part('branch-1'))?.status?.steps ?? []
  const backup = steps.find(({ name }) => name === 'BackupStore')
  assert.match(backup?.message ?? '', /\.db, a snapshot of etcd$/)
  await scene.create({ upgrade: { version: bad }, timeoutSeconds: 20 }, 'second')
  await scene.untilPhase('Failed', 'second')
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([good]))
  assert.deepEqual([master.restored, master.roles.size], [0, 2])
})

const threeMasters = { 'branch-1': ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'] }

test('masters are upgraded one at a time, each when the one before is a healthy member of etcd again', async () => {
  await using scene = await Scene.start(threeMasters, 3)
  const began: string[] = []
  scene.onStep = (text) => {
    began.push(text)
    const [, address] = /^after SwitchProgram@(10\.0\.0\.[123])$/.exec(text) ?? []
    if (address !== undefined) scene.machine(address).hasHealthyMember = false
  }
  await scene.create({ upgrade: { version: '0.2.0' }, timeoutSeconds: 600, machinesAtOnce: 4 })
  for (const [at, end] of ['1', '2', '3'].entries()) {
    const master = scene.machine(`10.0.0.${end}`)
    await scene.until(async () => began.includes(`before MachineReady@${master.address}`))
    // Its roles run steadily meanwhile, and its node is Ready.
    for (let seconds = 0; seconds < 120; seconds += 1) await scene.clock.advance(1_000)
    const versions = ['1', '2', '3', '4'].map((each) => scene.machine(`10.0.0.${each}`).version)
    assert.deepEqual(
      versions,
      versions.map((_, place) => (place <= at ? good : old)),
    )
    master.hasHealthyMember = true
  }
  await scene.untilPhase('Completed')
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([good]))
})

test('a master whose member does not come back gets its old program, and the other masters are left as they are', async () => {
  await using scene = await Scene.start(threeMasters, 3)
  const second = scene.machine('10.0.0.2')
  scene.onStep = (text) => {
    if (text === 'after SwitchProgram@10.0.0.2') second.hasHealthyMember = false
    if (text === 'before RollBack@10.0.0.2') second.hasHealthyMember = true
  }
  await scene.create(upgrade)
  const job = await scene.untilPhase('Failed')
  assert.match(job.status?.message ?? '', /10\.0\.0\.2: .*member m-10-0-0-2 of etcd is not healthy/)
  assert.deepEqual(await scene.phases('branch-1'), [
    '10.0.0.1 Done',
    '10.0.0.2 RolledBack',
    '10.0.0.3 Pending',
    '10.0.0.4 Pending',
  ])
  assert.deepEqual(scene.versions(), {
    '10.0.0.1': good,
    '10.0.0.2': old,
    '10.0.0.3': old,
    '10.0.0.4': old,
  })
  // Changes that the others have made since the snapshot stay.
  assert.deepEqual([second.restored, second.roles.size], [0, 2])
  assert.equal(scene.machine('10.0.0.3').restarts, 0)
})

test('no master is upgraded when another one has failed after the checks', async () => {
  await using scene = await Scene.start(threeMasters, 3)
  scene.onStep = (text) => {
    if (text === 'before BackupStore@10.0.0.1') scene.machine('10.0.0.3').hasHealthyMember = false
  }
  await scene.create(upgrade)
  const job = await scene.untilPhase('Failed')
  assert.match(job.status?.message ?? '', /10\.0\.0\.1: .*etcd would lose its quorum/)
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([old]))
  assert.equal(scene.machine('10.0.0.1').restarts, 0)
})

test('no master is configured when another one has failed after the checks', async () => {
  await using scene = await Scene.start(threeMasters, 3)
  scene.onStep = (text) => {
    if (text === 'before Configure@10.0.0.1') scene.machine('10.0.0.3').hasHealthyMember = false
  }
  await scene.create({ configure: { site: { metricsAPI: false } }, timeoutSeconds: 20 })
  const job = await scene.untilPhase('Failed')
  assert.match(job.status?.message ?? '', /10\.0\.0\.1: .*etcd would lose its quorum/)
  const first = scene.machine('10.0.0.1')
  assert.equal(first.files.get('/etc/skerry/site-options.env'), undefined)
  assert.equal(first.restarts, 0)
})

for (const isAway of [false, true]) {
  const state = isAway ? 'is away' : 'has not caught up'
  test(`no master is upgraded while another one ${state}, since etcd would lose its quorum`, async () => {
    await using scene = await Scene.start(threeMasters, 3)
    const third = scene.machine('10.0.0.3')
    third.hasHealthyMember = false
    third.isAway = isAway
    await scene.create(upgrade)
    await scene.untilPhase('Failed')
    const steps = (await scene.part('branch-1'))?.status?.steps ?? []
    const messages = steps.map(({ message = '' }) => message).join('\n')
    assert.match(
      messages,
      /etcd would lose its quorum without m-10-0-0-[12], because m-10-0-0-3 is not healthy/,
    )
    assert.deepEqual(new Set(Object.values(scene.versions())), new Set([old]))
  })
}

test('as many machines may fail as the job tolerates', async () => {
  await using scene = await Scene.start(two)
  await scene.create({ upgrade: { version: bad }, timeoutSeconds: 20, failureTolerance: '50%' })
  const job = await scene.untilPhase('Completed')
  // Nodes do not follow a master that has failed.
  assert.deepEqual(await scene.phases('branch-2'), ['10.0.1.1 RolledBack', '10.0.1.2 Pending'])
  assert.equal(job.status?.totals?.rolledBack, 2)
})

test('a machine that was rolled back begins again when a person asks, with a program that works', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1'] })
  const machine = scene.machine('10.0.0.1')
  scene.onStep = (text) => {
    // The first attempt is cut short on the machine.
    if (text === 'before MachineReady@10.0.0.1') machine.roles.delete('node')
  }
  await scene.create(upgrade)
  await scene.untilPhase('Failed')
  assert.equal(machine.version, old)
  scene.onStep = undefined
  await scene.annotate('retry', 'branch-1/10.0.0.1')
  await scene.untilPhase('Completed')
  assert.equal(machine.version, good)
  assert.equal((await scene.job()).metadata.annotations?.['hub.skerry.io/retry'], undefined)
})

test('an annotation pauses a job before the next machine, stays, and lets it go on once it is removed', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2'] })
  await scene.create({ ...upgrade, requireConfirmation: true })
  await scene.until(async () => (await scene.job()).status?.totals?.waiting === 1)
  await scene.annotate('pause', 'true')
  const paused = await scene.untilPhase('Paused')
  assert.match(paused.status?.message ?? '', /^paused by annotation hub\.skerry\.io\/pause; /)
  await scene.annotate('confirm', '*')
  const isConfirmed = async () =>
    (await scene.part('branch-1'))?.spec.confirmed?.includes('*') === true
  await scene.until(isConfirmed)
  await scene.clock.advance(120_000)
  const { metadata, status } = await scene.job()
  assert.deepEqual(metadata.annotations, { 'hub.skerry.io/pause': 'true' })
  assert.equal(status?.phase, 'Paused')
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([old]))
  const patch = { metadata: { annotations: { 'hub.skerry.io/pause': null } } }
  const request = { namespace, name: 'job', type: 'merge' as const, patch }
  await scene.api.resource(edgeJobResource).patch(request, soon())
  const job = await scene.untilPhase('Completed')
  assert.equal(job.status?.message, '2 done')
})

test('machines wait until somebody confirms at the hub, or on the machine for the job that is waiting', async () => {
  await using scene = await Scene.start(two)
  await scene.create({ ...upgrade, requireConfirmation: true })
  await scene.until(async () => (await scene.job()).status?.totals?.waiting === 2)
  await scene.untilPhase('Waiting')
  const [one, other] = [scene.machine('10.0.0.1'), scene.machine('10.0.1.1')]
  const told: unknown = JSON.parse(one.files.get('/var/lib/skerry/awaited-confirmation.json') ?? '')
  const uid = (await scene.job()).metadata.uid ?? ''
  assert.deepEqual(told, {
    job: uid,
    name: 'default/job',
    work: 'upgrade to 0.2.0',
    cluster: 'branch-1',
    scope: 'cluster',
    machine: '10.0.0.1',
  })
  other.files.set('/var/lib/skerry/confirmation.json', '{"job":"another"}')
  await scene.clock.advance(120_000)
  assert.deepEqual([one.version, other.version], [old, old])
  other.files.set('/var/lib/skerry/confirmation.json', JSON.stringify({ job: uid }))
  await scene.until(async () => (await scene.part('branch-2'))?.status?.phase === 'Completed')
  assert.equal(one.version, old)
  await scene.annotate('confirm', 'branch-1')
  await scene.untilPhase('Completed')
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([good]))
})

test('a machine that is lost while it is changed has failed in time, holds up no other, and is put right when it is back', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2', '10.0.0.3'] })
  const lost = scene.machine('10.0.0.2')
  scene.onStep = (text) => {
    if (text === 'after SwitchProgram@10.0.0.2') lost.isAway = true
  }
  await scene.create({ ...upgrade, failureTolerance: 1 })
  const job = await scene.untilPhase('Completed')
  assert.equal(job.status?.totals?.failed, 1)
  assert.deepEqual(await scene.phases('branch-1'), [
    '10.0.0.1 Done',
    '10.0.0.2 Failed',
    '10.0.0.3 Done',
  ])
  scene.onStep = undefined
  lost.isAway = false
  await scene.until(async () => (await scene.job()).status?.totals?.rolledBack === 1)
  assert.deepEqual([lost.version, lost.roles.size], [old, 1])
})

test('no more machines of a cluster are changed at once, and no more clusters, than the job says', async () => {
  const nodes = (net: number): string[] => [1, 2, 3, 4].map((end) => `10.0.${net}.${end}`)
  await using scene = await Scene.start({ a: nodes(1), b: nodes(2), c: nodes(3) })
  const changed = new Set<string>()
  let [machinesMax, clustersMax] = [0, 0]
  scene.onStep = (text) => {
    const [moment, step = ''] = text.split(' ')
    const [name, address = ''] = step.split('@')
    if (moment === 'before' && name === 'SwitchProgram') changed.add(address)
    if (moment === 'after' && name === 'MachineReady') changed.delete(address)
    const nets = Map.groupBy(changed, (each) => each.split('.')[2])
    clustersMax = Math.max(clustersMax, nets.size)
    for (const { length } of nets.values()) machinesMax = Math.max(machinesMax, length)
  }
  await scene.create({ ...upgrade, machinesAtOnce: 2, clustersAtOnce: 2 })
  await scene.untilPhase('Completed')
  assert.deepEqual([machinesMax, clustersMax], [2, 2])
})

test('a job that is cancelled finishes the machine that it changes, and a retry continues', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2'] })
  let isChanging = false
  scene.onStep = (text) => void (isChanging ||= text === 'after SwitchProgram@10.0.0.1')
  await scene.create(upgrade)
  await scene.until(async () => isChanging)
  await scene.annotate('cancel', 'true')
  await scene.untilPhase('Cancelled')
  assert.deepEqual(await scene.phases('branch-1'), ['10.0.0.1 Done', '10.0.0.2 Cancelled'])
  assert.deepEqual(scene.versions(), { '10.0.0.1': good, '10.0.0.2': old })
  await scene.annotate('retry', '*')
  await scene.untilPhase('Completed')
  assert.equal(scene.versions()['10.0.0.2'], good)
})

test('options are given to the roles, and taken back where a machine does not become Ready', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2'] })
  const configure = { site: { metricsAPI: false }, node: { logLevel: 'debug' as const } }
  await scene.create({ configure, timeoutSeconds: 20 })
  await scene.untilPhase('Completed')
  const [master, node] = [scene.machine('10.0.0.1'), scene.machine('10.0.0.2')]
  const text = 'SKERRY_OPTIONS=--log-level debug\n'
  assert.equal(node.files.get('/etc/skerry/node-options.env'), text)
  assert.equal(master.files.get('/etc/skerry/node-options.env'), text)
  const site = 'SKERRY_OPTIONS=--disable-metrics-api\n'
  assert.equal(master.files.get('/etc/skerry/site-options.env'), site)
  assert.equal(node.files.get('/etc/skerry/site-options.env'), undefined)
  scene.onStep = (step) => {
    if (step === 'before MachineReady@10.0.0.2') node.roles.delete('node')
  }
  const quiet = { configure: { node: { logLevel: 'error' as const } }, timeoutSeconds: 20 }
  await scene.create({ ...quiet, failureTolerance: 1 }, 'second')
  await scene.untilPhase('Completed', 'second')
  assert.equal(node.files.get('/etc/skerry/node-options.env'), text)
  assert.equal(node.roles.size, 1)
  assert.match(master.files.get('/etc/skerry/node-options.env') ?? '', /error/)
})

test('options that every machine got are kept for those that join later; options of some machines are not', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2'] })
  const kept = async (): Promise<Configuration | undefined> => {
    const edges = scene.api.resource(edgeClusterResource)
    return (await edges.get({ namespace, name: 'branch-1' }, soon())).status?.configuration
  }
  let count = 0
  const does = async (configure: Configuration, more: Partial<EdgeJobSpec> = {}): Promise<void> => {
    const name = `job-${(count += 1)}`
    await scene.create({ configure, timeoutSeconds: 20, ...more }, name)
    await scene.untilPhase('Completed', name)
  }
  const [site, node] = [
    { metricsAPI: false, featureGates: ['A=true'] },
    { logLevel: 'debug' as const },
  ]
  await does({ site, node })
  assert.deepEqual(await kept(), { site, node })
  await does({ site: { logLevel: 'error' } })
  const both = { site: { logLevel: 'error' }, node }
  assert.deepEqual(await kept(), both)
  await does({ node: { logLevel: 'info' } }, { machines: { addresses: ['10.0.0.2'] } })
  assert.deepEqual(await kept(), both)
  scene.onStep = (step) => {
    if (step === 'before MachineReady@10.0.0.2') scene.machine('10.0.0.2').roles.delete('node')
  }
  await does({ node: { logLevel: 'error' } }, { failureTolerance: 1 })
  assert.deepEqual(await kept(), both)
  scene.onStep = undefined
  await does({ node: {} })
  assert.deepEqual(await kept(), { site: both.site })
})

test('images are pulled with credentials that are shown nowhere', async () => {
  await using scene = await Scene.start(two)
  const images = ['registry.example/shop/till:1.4']
  await scene.create({ pullImages: { images, secretRef: { name: 'registry' } } })
  await scene.untilPhase('Completed')
  assert.deepEqual(scene.machine('10.0.1.2').pulled, images)
  const { items } = await scene.api.resource(resources.configMaps).list({ namespace }, soon())
  const part = await scene.part('branch-1')
  assert.doesNotMatch(JSON.stringify([items, part]), /s3cr3t|dXNlcjpzM2NyM3Q/)
})

test('two jobs on one cluster take turns, and a finished one lets the next begin', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1'] })
  await scene.create({ ...upgrade, requireConfirmation: true }, 'job')
  await scene.until(async () => (await scene.job()).status?.totals?.waiting === 1)
  await scene.create({ configure: { node: { logLevel: 'debug' } } }, 'later')
  await scene.until(async () => {
    const { message = '' } = (await scene.part('branch-1', 'later'))?.status ?? {}
    return message === 'EdgeJob job changes this cluster first'
  })
  await scene.annotate('confirm', '*')
  await scene.untilPhase('Completed')
  await scene.untilPhase('Completed', 'later')
})

test('a job without a cluster, and one whose cluster does not exist, have failed', async () => {
  await using scene = await Scene.start({})
  await scene.create(upgrade)
  assert.match((await scene.untilPhase('Failed')).status?.message ?? '', /selects no EdgeCluster/)
  await scene.create({ ...upgrade, clusters: { names: ['branch-9'] } }, 'second')
  const job = await scene.untilPhase('Failed', 'second')
  assert.match(job.status?.message ?? '', /branch-9: there is no such EdgeCluster/)
})

test('a job that names a machine which is not there, or selects none, has failed, and changes nothing', async () => {
  await using scene = await Scene.start(two)
  const odd: readonly [spec: Partial<EdgeJobSpec>, message: RegExp][] = [
    [
      { machines: { addresses: ['10.0.0.1', '10.0.9.9'] } },
      /names 10\.0\.9\.9, .* its 2 EdgeClusters$/,
    ],
    [
      { machines: { addresses: ['10.0.1.1'] }, clusters: { names: ['branch-1'] } },
      /names 10\.0\.1\.1, and the job selects no such machine of branch-1$/,
    ],
    [{ machines: { role: 'Node', addresses: ['10.0.0.1'] } }, /names 10\.0\.0\.1,/],
    [{ machines: { labelSelector: { matchLabels: { tier: 'none' } } } }, /^it selects no machine$/],
  ]
  for (const [at, [spec, message]] of odd.entries()) {
    await scene.create({ ...upgrade, ...spec }, `job-${at}`)
    const job = await scene.untilPhase('Failed', `job-${at}`)
    assert.match(job.status?.message ?? '', message)
  }
  assert.deepEqual(new Set(Object.values(scene.versions())), new Set([old]))
})

test('a job of one namespace reaches no cluster of another, and a forged part of it does nothing', async () => {
  await using scene = await Scene.start({ 'branch-1': ['10.0.0.1'] })
  const tenant = 'tenant'
  const namespaces = scene.api.resource(resources.namespaces)
  await namespaces.create(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenant } },
    soon(),
  )
  const jobs = scene.api.resource(edgeJobResource)
  const apiVersion = 'hub.skerry.io/v1alpha1'
  const byLabels = jobNamed('labels', {}).spec.clusters
  for (const [name, clusters] of Object.entries({ byLabels, byName: { names: ['branch-1'] } })) {
    const key = { namespace: tenant, name: name.toLowerCase() }
    const job = { apiVersion, kind: 'EdgeJob', metadata: key, spec: { ...upgrade, clusters } }
    const { metadata } = await jobs.create(job, soon())
    // A user who may write in one namespace may make the object by hand, too.
    const owner = { apiVersion, kind: 'EdgeJob', name: key.name, uid: metadata.uid ?? '' }
    const forged = {
      apiVersion,
      kind: 'EdgeJobCluster',
      metadata: { namespace, name: `forged-${key.name}`, ownerReferences: [owner] },
      spec: { job: key.name, edgeCluster: 'branch-1' },
    }
    await scene.api.resource(edgeJobClusterResource).create(forged, soon())
    await scene.until(async () => (await jobs.get(key, soon())).status?.phase === 'Failed')
  }
  await scene.create({ ...upgrade, clusters: { names: ['branch-9'] } })
  await scene.untilPhase('Failed')
  assert.deepEqual(scene.versions(), { '10.0.0.1': old })
})

test('the purpose of a job may not be changed, its amounts may', async () => {
  await using scene = await Scene.start({})
  await scene.create({ ...upgrade, clusters: { names: ['branch-9'] } })
  const jobs = scene.api.resource(edgeJobResource)
  const change = (spec: object): Promise<EdgeJob> =>
    jobs.patch({ namespace, name: 'job', type: 'merge', patch: { spec } }, soon())
  await assert.rejects(change({ upgrade: { version: '0.3.0' } }), (error) =>
    isStatusError(error, 'Invalid'),
  )
  assert.equal((await change({ machinesAtOnce: 3 })).spec.machinesAtOnce, 3)
})

const names = ['CheckMachine', 'InstallProgram', 'BackupStore', 'SwitchProgram', 'MachineReady']
for (const name of names) {
  for (const moment of ['before', 'after']) {
    test(`a hub that is killed ${moment} ${name} was done continues`, async () => {
      await using scene = await Scene.start({ 'branch-1': ['10.0.0.1', '10.0.0.2'] })
      const machine = scene.machine('10.0.0.1')
      let isKilled = false
      scene.onStep = (text) => {
        if (isKilled || text !== `${moment} ${name}@10.0.0.1`) return
        isKilled = true
        scene.killHub()
      }
      await scene.create(upgrade)
      await scene.until(async () => isKilled)
      await scene.restartHub()
      await scene.untilPhase('Completed')
      assert.deepEqual(new Set(Object.values(scene.versions())), new Set([good]))
      assert.ok(machine.restarts <= 4, 'the roles are started again once more at most')
    })
  }
}

for (const moment of ['before', 'after']) {
  test(`a hub that is killed ${moment} a machine was rolled back continues`, async () => {
    await using scene = await Scene.start({ 'branch-1': ['10.0.0.1'] })
    let isKilled = false
    scene.onStep = (text) => {
      if (isKilled || text !== `${moment} RollBack@10.0.0.1`) return
      isKilled = true
      scene.killHub()
    }
    await scene.create({ upgrade: { version: bad }, timeoutSeconds: 20 })
    await scene.until(async () => isKilled)
    await scene.restartHub()
    await scene.untilPhase('Failed')
    assert.deepEqual(await scene.phases('branch-1'), ['10.0.0.1 RolledBack'])
    const machine = scene.machine('10.0.0.1')
    assert.deepEqual([machine.version, machine.schema, machine.roles.size], [old, 1, 2])
  })
}
