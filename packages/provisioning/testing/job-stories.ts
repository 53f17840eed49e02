import { simulatedClock } from '@skerry/base'
import { StepError, type HubSide, type JobOrder, type Step } from '../contract/step.ts'
import { settledSteps } from '../engine/job-asks.ts'
import { jobInstancesOf } from '../engine/plan-job.ts'
import { statusesOf } from '../engine/plan-steps.ts'
import { runSteps } from '../engine/run-steps.ts'
import { StatusBook, phaseAtRest } from '../engine/status-book.ts'
import type { EdgeCluster, EdgeClusterStatus, MachineStatus } from '../kind/edge-cluster.ts'
import type { EdgeJob, EdgeJobSpec } from '../kind/edge-job.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { jobSteps } from '../steps/job-steps-table.ts'
import { FakeCluster, fakePackage, fakeProgramFiles, type FakeProgram } from './fake-machine.ts'
import { StepStory, type Disturbance } from './step-story.ts'

/** The outcome of a story. */
interface Played {
  /** Everything that is left of it, but for moments and secrets. */
  readonly state: unknown
  /** Its phase, with the steps that have failed. */
  readonly ending: string
  /** The steps of its last part, with the number of commands of each. */
  readonly ran: ReadonlyMap<string, number>
  readonly unknown: readonly string[]
}

/** A story of which the last part plays steps of one table. */
export interface Story {
  readonly title: string
  readonly ends: RegExp
  readonly play: (disturbance: Disturbance) => Promise<Played>
}

const [old, good, bad] = ['0.1.0-aaaaaaaaaaaa', '0.2.0-bbbbbbbbbbbb', '0.2.1-cccccccccccc']
const programs: Readonly<Record<string, FakeProgram>> = {
  [old]: { schema: 1 },
  [good]: { schema: 1 },
  [bad]: { schema: 2, isBroken: true },
}
const packages: Readonly<Record<string, string>> = { '0a': old, '0b': good, '0c': bad }
const hostKeys = [`SHA256:${'a'.repeat(43)}`]
const credentials = { name: 'ssh' }
const masters = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
const node = '10.0.0.4'

/** The tables of jobs with stories that do each of their steps: of three masters on etcd and a node, or of one master. */
export function jobStories(): {
  readonly steps: readonly Step[]
  readonly stories: readonly Story[]
}[] {
  const sourceOf = (hex: string) => ({ digest: `sha256:${hex.repeat(32)}`, publicKey: 'a key' })
  const images = ['registry.example/shop/till:1.4']
  const upgrade = { package: sourceOf('0b'), images }
  const ready = { requireConfirmation: true }
  const configure = { site: { metricsAPI: false }, node: { logLevel: 'debug' as const } }
  const broken = { upgrade: { package: sourceOf('0c') } }
  const secretRef = { name: 'registry' }
  return [
    tableOf({ upgrade, ...ready }, [
      storyOf('three masters are upgraded', { upgrade, ...ready }, masters.length),
      storyOf('an upgrade is rolled back', broken, 1),
      storyOf('an upgrade of etcd is rolled back', broken, masters.length),
    ]),
    tableOf({ configure, ...ready }, [
      storyOf('three masters are configured', { configure, ...ready }, masters.length),
      storyOf('a configuration is rolled back', { configure }, 1, { isStuck: true }),
    ]),
    tableOf({ pullImages: { images }, ...ready }, [
      storyOf('images are pulled', { pullImages: { images, secretRef }, ...ready }, 1),
    ]),
  ]
}

function tableOf(spec: Partial<EdgeJobSpec>, stories: readonly Story[]) {
  const order = orderOf(spec)
  // Steps that the job does not ask for are of other jobs.
  return { steps: jobSteps(order).filter(({ applies }) => applies?.(edgeOf(1)) !== false), stories }
}

function orderOf(spec: Partial<EdgeJobSpec>): JobOrder {
  const job: EdgeJob = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeJob',
    metadata: { name: 'job', namespace: 'shops', uid: '0f0e0d0c-1111' },
    spec: { clusters: { names: ['branch-7'] }, timeoutSeconds: 20, ...spec },
  }
  return { job, confirmed: ['*'] }
}

function edgeOf(mastersMade: number): EdgeCluster {
  const machines = [...masters.slice(0, mastersMade), node].map((address) => {
    const role = address === node ? ('Node' as const) : ('Master' as const)
    return { addresses: [address], credentials, role, hostKeys }
  })
  const known: MachineStatus[] = machines.map(({ addresses: [address = ''], role }, at) => {
    const name = `m-${address.replaceAll('.', '-')}`
    const site = at === 0 ? ('Founds' as const) : ('Joins' as const)
    return { address, role, node: name, ...(role === 'Master' ? { site, member: name } : {}) }
  })
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', namespace: 'shops' },
    spec: { machines, ...(mastersMade === 1 ? {} : { store: { type: 'Etcd' as const } }) },
    status: { machines: known },
  }
}

function hubSide(): HubSide {
  const part: Partial<HubSide> = {
    program: async (_architecture, _signal, wish) => {
      const wanted = wish !== undefined && 'version' in wish ? wish.version : old
      return fakeProgramFiles(wanted)
    },
    recordProgram: async () => undefined,
    recordConfiguration: async () => undefined,
    read: async () => Buffer.from('{"auths":{"registry":{"auth":"dXNlcjpzM2NyM3Q="}}}'),
    async package({ digest }) {
      const version = packages[digest.slice('sha256:'.length).slice(0, 2)]
      if (version === undefined) throw new StepError('no such package', { isFinal: true })
      return fakePackage(version, digest.slice('sha256:'.length))
    },
  }
  // No step of a job asks for more.
  return part as HubSide
}

function storyOf(
  title: string,
  spec: Partial<EdgeJobSpec>,
  mastersMade: number,
  { isStuck = false } = {},
): Story {
  return {
    title,
    ends: title.includes('rolled back') ? /^Failed; MachineReady: [^;]+$/ : /^Ready$/,
    async play(disturbance) {
      const clock = simulatedClock(Date.parse('2026-01-01T00:00:00Z'))
      const addresses = [...masters.slice(0, mastersMade), node]
      const cluster = new FakeCluster(addresses, { programs, clock, masters: mastersMade })
      for (const each of cluster.machines) {
        each.isInEtcd = each.isMaster && mastersMade > 1
        // The options with which its node does not start.
        if (isStuck) each.refusedOptions = '--log-level debug'
      }
      const edge = edgeOf(mastersMade)
      const open = ({ address }: { readonly address: string }) => {
        const found = cluster.machines.find((each) => each.address === address)
        if (found === undefined) throw new RangeError(`Cannot find machine ${address}`)
        return found.shell()
      }
      const story = new StepStory({ edge, hub: hubSide(), clock, open })
      const work = workOf(story, orderOf(spec))
      await story.settleWith(work.live, disturbance)
      const ending = work.ending()
      const state = cluster.machines.map((each) => each.state())
      const unknown = cluster.machines.flatMap((each) => each.unknown)
      return { state, ending, ran: new Map(story.ran), unknown }
    },
  }
}

interface JobWork {
  readonly live: Parameters<StepStory['settleWith']>[0]
  readonly ending: () => string
}

/** Does a job on all machines of the cluster, as far as the statuses of its steps say. */
function workOf(story: StepStory, order: JobOrder): JobWork {
  let known: EdgeClusterStatus = {}
  const live: JobWork['live'] = async (deps, signal) => {
    const machines = machinesOf(story.edge.spec)
    const steps = story
      .watched(jobSteps(order))
      .filter(({ applies }) => applies?.(story.edge) !== false)
    const instances = jobInstancesOf(steps, machines)
    const book = new StatusBook(
      { status: known },
      {
        base: {},
        steps: statusesOf(instances, known.steps ?? [], {}),
        machines: story.status.machines ?? [],
        now: () => deps.clock.now(),
        write: async (status) => void (known = structuredClone(status)),
      },
    )
    const made = machines.filter(({ role }) => role === 'Master')
    await runSteps(instances, { ...deps, masters: made, book }, signal, { attemptsMax: 2 })
    for (const step of settledSteps(instances, book.steps)) book.setStep(step)
    await book.save(phaseAtRest(book, { isPaused: false }))
    return book
  }
  const ending = (): string => {
    const { phase = '', steps = [] } = known
    const failed = steps.filter(({ state }) => state === 'Failed')
    return [phase, ...failed.map(({ name, message = '' }) => `${name}: ${message}`)].join('; ')
  }
  return { live, ending }
}
