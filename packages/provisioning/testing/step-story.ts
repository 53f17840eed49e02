import { silentLogger, systemRandom, type SimulatedClock } from '@skerry/base'
import type { Shell } from '../contract/shell.ts'
import type {
  ForMachineContext,
  HubContext,
  HubSide,
  MachineContext,
  Step,
  StepContext,
} from '../contract/step.ts'
import { departed, planCluster, type StepTables } from '../engine/plan-cluster.ts'
import { nextAttemptMs, statusesOf } from '../engine/plan-steps.ts'
import { Redactor } from '../engine/redactor.ts'
import { Shells, runSteps, type RunDeps } from '../engine/run-steps.ts'
import { StatusBook, phaseAtRest } from '../engine/status-book.ts'
import { knownSteps, statusBaseOf } from '../engine/steps-of-mode.ts'
import type { EdgeCluster, EdgeClusterSpec, EdgeClusterStatus } from '../kind/edge-cluster.ts'
import { machinesOf, type PlannedMachine } from '../kind/machine-addresses.ts'

/** The moment at which a hub is killed: before a step, when half of its commands have run, or before its end is known. */
export type Moment = 'before' | 'halfway' | 'after'

/** How a story differs from one in which nothing happens. */
export interface Disturbance {
  /** Each step is done twice. */
  readonly isTwice?: boolean
  /** The hub is killed once, at this moment of this step. */
  readonly kill?: { readonly text: string; readonly moment: Moment; readonly halfway: number }
}

interface StoryParts {
  readonly edge: EdgeCluster
  readonly hub: HubSide
  readonly clock: SimulatedClock
  readonly open: (machine: PlannedMachine) => Shell
}

const livesMax = 60
const tickMs = 500

/** Runs steps as hubs do that are killed and know nothing afterwards but the status. */
export class StepStory {
  edge: EdgeCluster
  /** Each step with its machine as often as it was begun, and the number of commands that it has run in all. */
  readonly ran = new Map<string, number>()
  readonly #parts: StoryParts
  #disturbance: Disturbance = {}
  #stop = new AbortController()
  #isKilled = false

  constructor(parts: StoryParts) {
    this.edge = parts.edge
    this.#parts = parts
  }

  change(spec: Partial<EdgeClusterSpec>): void {
    const { metadata } = this.edge
    const generation = (metadata.generation ?? 1) + 1
    this.edge = {
      ...this.edge,
      spec: { ...this.edge.spec, ...spec },
      metadata: { ...metadata, generation },
    }
  }

  mark(metadata: Partial<EdgeCluster['metadata']>): void {
    this.edge = { ...this.edge, metadata: { ...this.edge.metadata, ...metadata } }
  }

  get status(): EdgeClusterStatus {
    return this.edge.status ?? {}
  }

  /** Lets the cluster come to rest: every step is finished, or waits for a person. */
  settle(tables: StepTables, disturbance: Disturbance = {}): Promise<void> {
    this.#disturb(disturbance)
    const watched = {
      steps: this.watched(tables.steps),
      departure: this.watched(tables.departure),
      removal: this.watched(tables.removal),
    }
    return this.#untilRest(() => this.#live(watched))
  }

  /** The same for other work, which begins again after each death of the hub and returns the book that it has written. */
  settleWith(
    work: (deps: Omit<RunDeps, 'book'>, signal: AbortSignal) => Promise<StatusBook>,
    disturbance: Disturbance = {},
  ): Promise<void> {
    this.#disturb(disturbance)
    return this.#untilRest(async () => {
      await using shells = this.#shells()
      return work(this.#deps(shells), this.#stop.signal)
    })
  }

  #disturb(disturbance: Disturbance): void {
    this.ran.clear()
    this.#disturbance = disturbance
    this.#isKilled = false
  }

  async #untilRest(live: () => Promise<StatusBook>): Promise<void> {
    for (let lives = 0; lives < livesMax; lives += 1) {
      this.#stop = new AbortController()
      const book = await this.#ticking(live()).catch((error: unknown) => {
        if (!this.#stop.signal.aborted) throw error
        return undefined
      })
      if (book === undefined) continue
      const nextMs = nextAttemptMs(book.steps)
      if (nextMs === undefined) return
      await this.#parts.clock.advance(Math.max(0, nextMs - this.#parts.clock.now()))
    }
    throw new Error(`Cannot settle: steps still wait after ${livesMax} rounds`)
  }

  /** Lets time pass while steps run. */
  async #ticking(work: Promise<StatusBook>): Promise<StatusBook> {
    let isOver = false
    const ended = work.finally(() => void (isOver = true))
    ended.catch(() => undefined)
    while (!isOver) await this.#parts.clock.advance(tickMs)
    return ended
  }

  async #live(tables: StepTables): Promise<StatusBook> {
    const { edge } = this
    const { clock } = this.#parts
    const machines = machinesOf(edge.spec)
    const { instances, inputs, leaving, machines: known } = planCluster(edge, machines, tables)
    const book = new StatusBook(edge, {
      base: statusBaseOf(edge, tables.steps, known),
      steps: statusesOf(instances, knownSteps(edge), edge.spec, { inputs, machines: known }),
      machines: known,
      now: () => clock.now(),
      write: async (status) => {
        this.edge = { ...this.edge, status: { ...this.status, ...structuredClone(status) } }
      },
    })
    await using shells = this.#shells()
    await runSteps(instances, { ...this.#deps(shells), book }, this.#stop.signal)
    book.drop(departed(leaving, book))
    await book.save(phaseAtRest(book, { isPaused: false }))
    return book
  }

  #shells(): Shells {
    return new Shells(async (machine) => {
      const shell = this.#parts.open(machine)
      await shell.run(['test', '-e', '/'])
      return shell
    })
  }

  #deps(shells: Shells): Omit<RunDeps, 'book'> {
    const { hub, clock } = this.#parts
    return {
      edge: this.edge,
      machines: machinesOf(this.edge.spec),
      hub,
      shells,
      redactor: new Redactor(),
      clock,
      random: systemRandom,
      log: silentLogger,
      keepLog: async () => undefined,
      isHeld: () => false,
    }
  }

  /** Returns steps that do what they do, and what the disturbance adds to that. */
  watched(steps: readonly Step[]): Step[] {
    return steps.map((step): Step => {
      const { name } = step
      switch (step.place) {
        case 'hub': {
          const act = (context: HubContext) => this.#hubAct(name, step.act, context)
          return { ...step, act }
        }
        case 'any-master': {
          const act = (context: StepContext) => this.#act(name, step.act, context)
          return { ...step, act }
        }
        case 'machines': {
          const act = (context: MachineContext) => {
            const text = `${name}@${context.machine.address}`
            const shell = this.#watched(context.shell, text)
            return this.#act(text, step.act, { ...context, shell })
          }
          return { ...step, act }
        }
        case 'master':
        case 'master-for-each': {
          const act = (context: ForMachineContext) =>
            this.#act(`${name}@${context.machine.address}`, step.act, context)
          return { ...step, act }
        }
      }
    })
  }

  #act<C extends StepContext>(
    text: string,
    act: (context: C) => Promise<string>,
    context: C,
  ): Promise<string> {
    const shellOf = async (machine: PlannedMachine): Promise<Shell> =>
      this.#watched(await context.shellOf(machine), text)
    return this.#hubAct(text, act, { ...context, shellOf })
  }

  async #hubAct<C extends HubContext>(
    text: string,
    act: (context: C) => Promise<string>,
    context: C,
  ): Promise<string> {
    this.ran.set(text, this.ran.get(text) ?? 0)
    this.#killAt(text, 'before')
    if (this.#disturbance.isTwice === true) await act(context)
    const result = await act(context)
    this.#killAt(text, 'after')
    return result
  }

  #watched(shell: Shell, text: string): Shell {
    const before = (): void => {
      const count = (this.ran.get(text) ?? 0) + 1
      this.ran.set(text, count)
      if (count >= (this.#disturbance.kill?.halfway ?? Infinity)) this.#killAt(text, 'halfway')
    }
    return {
      hostKey: shell.hostKey,
      run: async (...words) => (before(), shell.run(...words)),
      write: async (...file) => (before(), shell.write(...file)),
      upload: async (...file) => (before(), shell.upload(...file)),
      uploadByDigest: async (...files) => (before(), shell.uploadByDigest(...files)),
      [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
    }
  }

  #killAt(text: string, moment: Moment): void {
    const { kill } = this.#disturbance
    if (this.#isKilled || kill?.text !== text || kill.moment !== moment) return
    this.#isKilled = true
    const error = new Error('the hub is killed')
    this.#stop.abort(error)
    throw error
  }
}
