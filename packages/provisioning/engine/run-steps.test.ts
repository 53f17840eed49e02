import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, simulatedClock, systemRandom, type Random } from '@skerry/base'
import type { EdgeCluster, EdgeClusterStatus, StepStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { ShellError, type Shell } from '../contract/shell.ts'
import type { ShellFault } from '../kind/shell-fault.ts'
import {
  StepError,
  StepWaiting,
  type HubSide,
  type MachineContext,
  type Step,
} from '../contract/step.ts'
import { instancesOf, nextAttemptMs, statusesOf } from './plan-steps.ts'
import { Redactor } from './redactor.ts'
import { Shells, runSteps } from './run-steps.ts'
import { StatusBook } from './status-book.ts'

const credentials = { name: 'ssh' }
const edge: EdgeCluster = {
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeCluster',
  metadata: { name: 'edge', namespace: 'default' },
  spec: {
    machines: [
      { addresses: ['m'], credentials, role: 'Master' },
      { addresses: ['a', 'b'], credentials },
    ],
    retry: { attempts: 3 },
  },
}
const machines = machinesOf(edge.spec)
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

const shell: Shell = {
  hostKey: 'SHA256:x',
  run: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
  write: async () => undefined,
  upload: async () => undefined,
  uploadByDigest: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
}

interface World {
  /** Every step adds its name, and finds it if it is run again. */
  readonly done: Set<string>
  status: EdgeClusterStatus
  readonly logs: string[]
}

const worldOf = (): World => ({ done: new Set(), status: {}, logs: [] })

function stepsThat(act: (context: MachineContext, name: string) => Promise<string>): Step[] {
  return ['Connect', 'Install', 'Join'].map((name) => ({
    name,
    does: 'work',
    needs: [],
    place: 'machines' as const,
    changesMachine: name !== 'Connect',
    act: (context: MachineContext) => act(context, name),
  }))
}

interface Round {
  readonly clock: ReturnType<typeof simulatedClock>
  readonly isHeld?: () => boolean
  readonly signal?: AbortSignal
  readonly open?: () => Promise<Shell>
  readonly random?: Random
  readonly spec?: Partial<EdgeCluster['spec']>
}

/** Runs steps once, as a hub does that knows nothing but the status. */
async function round(world: World, steps: readonly Step[], options: Round): Promise<void> {
  const instances = instancesOf(steps, machines, [])
  const book = new StatusBook(edge, {
    base: {},
    steps: statusesOf(instances, world.status.steps ?? [], edge.spec),
    machines: machines.map(({ address, role }) => ({ address, role })),
    now: () => options.clock.now(),
    write: async (status) => void (world.status = structuredClone(status)),
  })
  // No step of these tests asks the hub.
  const hub = {} as HubSide
  const [master] = machines
  assert.ok(master)
  await using shells = new Shells(options.open ?? (async () => shell))
  const changed = { ...edge, spec: { ...edge.spec, ...options.spec } }
  const parts = { edge: changed, machines, master, hub, book, shells }
  const keepLog = async (_step: StepStatus, text: string): Promise<void> =>
    void world.logs.push(text)
  await runSteps(
    instances,
    {
      ...parts,
      redactor: new Redactor(),
      clock: options.clock,
      random: options.random ?? systemRandom,
      log: silentLogger,
      keepLog,
      isHeld: options.isHeld ?? (() => false),
    },
    options.signal ?? soon(),
  )
  // The controller does so when it is at rest.
  await book.save('Running')
}

const stateOf = ({ status }: World, text: string): StepStatus | undefined =>
  status.steps?.find(({ name, machine }) => `${name}@${machine}` === text)
const states = (world: World): string[] =>
  (world.status.steps ?? []).map(({ name, machine, state }) => `${name}@${machine} ${state}`)

const doing =
  (world: World) =>
  async ({ machine }: MachineContext, name: string): Promise<string> => {
    world.done.add(`${name}@${machine.address}`)
    return 'done'
  }

test('all steps are done, the master first', async () => {
  const world = worldOf()
  await round(world, stepsThat(doing(world)), { clock: simulatedClock() })
  assert.equal(world.done.size, 9)
  assert.equal([...world.done][0], 'Connect@m')
  assert.ok(states(world).every((text) => text.endsWith('Done')))
})

test('a step is done when the machine has its work on disk, and not before', async () => {
  const world = worldOf()
  const clock = simulatedClock(0)
  const act = async ({ shell: opened }: MachineContext, name: string): Promise<string> => {
    await opened.write(`/etc/${name}`, '', 0o600)
    return name
  }
  const cut: Shell = {
    ...shell,
    run: async ([program]) =>
      program === 'sync'
        ? { exitCode: 1, stdout: '', stderr: 'Input/output error' }
        : { exitCode: 0, stdout: '', stderr: '' },
  }
  await round(world, stepsThat(act), { clock, open: async () => cut })
  const { state, message } = world.status.steps?.[0] ?? {}
  assert.equal(state, 'Waiting')
  assert.match(message ?? '', /cannot write to its disk: Input\/output error/)
})

test('a disk is synced only for a step that may have changed it, now or in an attempt before', async () => {
  const world = worldOf()
  const clock = simulatedClock(0)
  let isBroken = true
  const synced: string[] = []
  const watched: Shell = {
    ...shell,
    run: async (command) => {
      if (command[0] === 'sync') synced.push(String(isBroken))
      return { exitCode: 0, stdout: '', stderr: '' }
    },
  }
  const act = async ({ machine, shell: opened }: MachineContext, name: string): Promise<string> => {
    await opened.run(['cat', '/etc/hostname'], { keepsFiles: true })
    if (isBroken && machine.address === 'a' && name === 'Connect') throw new Error('once')
    return name
  }
  const open = async (): Promise<Shell> => watched
  await round(world, stepsThat(act), { clock, open })
  assert.deepEqual(synced, [])
  isBroken = false
  await clock.advance(60_000)
  await round(world, stepsThat(act), { clock, open })
  assert.deepEqual(synced, ['false'], 'the attempt that failed may have written')
  assert.ok(states(world).every((text) => text.endsWith('Done')))
})

test('a step that fails is tried again later and later, up to the limit, and stops only its own machine', async () => {
  const world = worldOf()
  const clock = simulatedClock()
  const delays: number[] = []
  const steps = stepsThat(async (context, name) => {
    if (name === 'Install' && context.machine.address === 'a') throw new Error('no space')
    return doing(world)(context, name)
  })
  for (let at = 0; at < 3; at += 1) {
    await round(world, steps, { clock })
    const next = nextAttemptMs(world.status.steps ?? [])
    if (next === undefined) break
    delays.push(next - clock.now())
    // Before its time nothing happens.
    await round(world, steps, { clock })
    assert.equal(stateOf(world, 'Install@a')?.attempt, at + 1)
    await clock.advance(next - clock.now())
  }
  const failed = stateOf(world, 'Install@a')
  assert.deepEqual([failed?.state, failed?.attempt, failed?.message], ['Failed', 3, 'no space'])
  assert.equal(delays.length, 2)
  const [first = 0, second = 0] = delays
  assert.ok(first >= 2_000 && first <= 5_000, String(first))
  assert.ok(second >= 4_000 && second <= 8_000, String(second))
  assert.equal(stateOf(world, 'Join@b')?.state, 'Done')
  assert.equal(stateOf(world, 'Join@a')?.state, 'Waiting')
  assert.equal(world.logs.filter((text) => text.includes('no space')).length, 3)
})

test('machines that fail together are not tried again together', async () => {
  const world = worldOf()
  const clock = simulatedClock(0)
  const shares = [0, 0.999]
  const random = { ...systemRandom, next: () => shares.shift() ?? 0 }
  const steps = stepsThat(async (context, name) => {
    if (name === 'Install' && context.machine.address !== 'm') throw new Error('no space')
    return doing(world)(context, name)
  })
  await round(world, steps, { clock, random })
  const waits = ['a', 'b'].map((address) => {
    const { nextTime = '' } = stateOf(world, `Install@${address}`) ?? {}
    return Date.parse(nextTime)
  })
  assert.deepEqual(waits, [2_000, 3_000])
})

const final: readonly [string, Error][] = [
  ...(['refused', 'host-key', 'login', 'root'] satisfies ShellFault[]).map(
    (fault): [string, Error] => [fault, new ShellError(fault, 'no')],
  ),
  ['of a step that only a person can mend', new StepError('no', { isFinal: true })],
]
for (const [what, error] of final) {
  test(`an error ${what} is not tried again`, async () => {
    const world = worldOf()
    const open = (): Promise<Shell> => Promise.reject(error)
    await round(world, stepsThat(doing(world)), { clock: simulatedClock(), open })
    assert.deepEqual(
      [stateOf(world, 'Connect@m')?.state, stateOf(world, 'Connect@m')?.attempt],
      ['Failed', 1],
    )
    assert.equal(world.done.size, 0)
  })
}

for (const fault of ['unreachable', 'misbehaves', 'file'] satisfies ShellFault[]) {
  test(`an error ${fault} is tried again`, async () => {
    const world = worldOf()
    const open = (): Promise<Shell> => Promise.reject(new ShellError(fault, 'no'))
    const clock = simulatedClock()
    await round(world, stepsThat(doing(world)), { clock, open })
    const { state, fault: named } = stateOf(world, 'Connect@m') ?? {}
    assert.deepEqual([state, named], ['Waiting', fault], 'the status names the fault')
    await clock.advance((nextAttemptMs(world.status.steps ?? []) ?? 0) - clock.now())
    await round(world, stepsThat(doing(world)), { clock })
    assert.equal(stateOf(world, 'Connect@m')?.fault, undefined)
  })
}

const limits: readonly [what: string, spec: Partial<EdgeCluster['spec']>, attempts: number][] = [
  ['a cluster that is made', { retry: {} }, 10],
  ['a check', { retry: {}, mode: 'Check' }, 2],
  ['a check with a limit of its own', { retry: { attempts: 4 }, mode: 'Check' }, 4],
]
for (const [what, spec, attempts] of limits) {
  test(`${what} gives a machine up after ${attempts} attempts`, async () => {
    const world = worldOf()
    const clock = simulatedClock()
    const open = (): Promise<Shell> => Promise.reject(new ShellError('unreachable', 'no'))
    for (let at = 0; at < attempts; at += 1) {
      assert.notEqual(stateOf(world, 'Connect@m')?.state, 'Failed')
      await round(world, stepsThat(doing(world)), { clock, open, spec })
      const next = nextAttemptMs(world.status.steps ?? [])
      if (next !== undefined) await clock.advance(next - clock.now())
    }
    const { state, attempt } = stateOf(world, 'Connect@m') ?? {}
    assert.deepEqual([state, attempt], ['Failed', attempts])
  })
}

test('a master whose connection broke in a step for another machine is opened again', async () => {
  const world = worldOf()
  let opened = 0
  const step: Step = {
    name: 'Drain',
    does: 'work',
    needs: [],
    place: 'master-for-each',
    async act({ machine, master, shellOf }) {
      await shellOf(master)
      if (machine.address === 'a') throw new ShellError('unreachable', 'the connection broke')
      return 'done'
    },
  }
  const open = async (): Promise<Shell> => {
    opened++
    return shell
  }
  const spec = { machinesAtOnce: 1 }
  await round(world, [step], { clock: simulatedClock(), open, spec })
  assert.deepEqual(states(world), ['Drain@m Done', 'Drain@a Waiting', 'Drain@b Done'])
  assert.equal(opened, 2)
})

test('findings stand in the status one by one, bounded and bare of secrets, until the next attempt', async () => {
  const world = worldOf()
  const findings = Array.from(
    { length: 30 },
    (_, at) => `finding ${at} s3cr3t-token ${'x'.repeat(500)}`,
  )
  let isWrong = true
  const steps = stepsThat(async (context, name) => {
    context.conceal(['s3cr3t-token'])
    if (isWrong && name === 'Connect') throw new StepError('several', { findings })
    return doing(world)(context, name)
  })
  const clock = simulatedClock()
  await round(world, steps, { clock })
  const found = stateOf(world, 'Connect@m')?.findings ?? []
  assert.equal(found.length, 20)
  assert.ok(found.every((text) => text.length <= 300))
  assert.doesNotMatch(JSON.stringify(world.status), /s3cr3t/)
  isWrong = false
  await clock.advance((nextAttemptMs(world.status.steps ?? []) ?? 0) - clock.now())
  await round(world, steps, { clock })
  assert.equal(stateOf(world, 'Connect@m')?.findings, undefined)
})

test('while a person holds it, the step that runs is finished and none begins', async () => {
  const world = worldOf()
  await round(world, stepsThat(doing(world)), {
    clock: simulatedClock(),
    isHeld: () => world.done.size > 0,
  })
  assert.deepEqual([...world.done], ['Connect@m'])
})

test('a run that is broken off ends only when all of its steps have ended, and writes nothing after', async () => {
  const world = worldOf()
  const stop = new AbortController()
  const gate = Promise.withResolvers<void>()
  let isOver = false
  const steps = stepsThat(async (context, name) => {
    if (name === 'Install' && context.machine.address !== 'm') {
      stop.abort(new Error('a person has cancelled it'))
      await gate.promise
      isOver = true
      return 'late'
    }
    return doing(world)(context, name)
  })
  const run = round(world, steps, { clock: simulatedClock(), signal: stop.signal })
  setImmediate(() => gate.resolve())
  await assert.rejects(run, /cancelled/)
  assert.equal(isOver, true)
  const before = states(world)
  await new Promise(setImmediate)
  assert.deepEqual(states(world), before)
  assert.equal(stateOf(world, 'Install@a')?.state, 'Running')
})

for (const name of ['Connect', 'Install', 'Join']) {
  for (const moment of ['before', 'after'] as const) {
    for (const address of ['m', 'a']) {
      test(`a hub that is killed ${moment} ${name} on ${address} was done goes on there`, async () => {
        const world = worldOf()
        const clock = simulatedClock()
        const stop = new AbortController()
        const ran: string[] = []
        const kill = (): never => {
          stop.abort(new Error('killed'))
          throw new Error('killed')
        }
        const dying = stepsThat(async (context, each) => {
          const isThere = each === name && context.machine.address === address
          if (isThere && moment === 'before') kill()
          await doing(world)(context, each)
          return isThere ? kill() : 'done'
        })
        await assert.rejects(round(world, dying, { clock, signal: stop.signal }), /killed/)
        const finished = states(world).filter((text) => text.endsWith('Done'))
        await round(
          world,
          stepsThat((context, each) => {
            ran.push(`${each}@${context.machine.address} Done`)
            return doing(world)(context, each)
          }),
          { clock },
        )
        assert.deepEqual(
          finished.filter((text) => ran.includes(text)),
          [],
        )
        assert.ok(ran.includes(`${name}@${address} Done`))
        assert.equal(world.done.size, 9)
        assert.ok(states(world).every((text) => text.endsWith('Done')))
      })
    }
  }
}

test('a secret that a step prints or fails with stands neither in the status nor in a log', async () => {
  const world = worldOf()
  const steps = stepsThat(async ({ print, conceal, machine }, name) => {
    conceal(['s3cr3t-token'])
    print('the token is s3cr3t-token')
    if (name === 'Install' && machine.address === 'a') throw new Error('bad s3cr3t-token')
    return 's3cr3t-token'
  })
  await round(world, steps, { clock: simulatedClock() })
  assert.doesNotMatch(JSON.stringify(world), /s3cr3t/)
  assert.match(stateOf(world, 'Install@a')?.message ?? '', /bad \[redacted\]/)
})

test('a machine that prints endlessly fills neither the status nor a log', async () => {
  const world = worldOf()
  const steps = stepsThat(async ({ print }) => {
    for (let at = 0; at < 1_000; at += 1) print(`${'x'.repeat(1_000)}\n`.repeat(10))
    return 'y'.repeat(1_000_000)
  })
  await round(world, steps, { clock: simulatedClock() })
  for (const { output = '', message = '' } of world.status.steps ?? []) {
    assert.ok(output.length <= 2_000 && message.length <= 1_000)
  }
  assert.ok(world.logs.every((text) => text.length <= 256 * 1024))
})

test('a step that waits for a person looks again without counting attempts, and writes no log', async () => {
  const world = worldOf()
  const clock = simulatedClock()
  let looks = 0
  const steps = stepsThat(async ({ machine }, name) => {
    if (name !== 'Install' || machine.address !== 'm') return 'done'
    looks += 1
    if (looks <= 20) throw new StepWaiting('nobody has come', 10_000)
    return 'somebody has come'
  })
  for (let at = 1; at <= 20; at += 1) {
    await round(world, steps, { clock })
    const { state, attempt, message } = stateOf(world, 'Install@m') ?? {}
    assert.deepEqual([looks, state, attempt, message], [at, 'Waiting', 0, 'nobody has come'])
    if (at % 2 === 0) await clock.advance(10_000)
  }
  assert.equal(world.logs.length, 3)
  await round(world, steps, { clock })
  assert.equal(stateOf(world, 'Install@m')?.state, 'Done')
  assert.equal(stateOf(world, 'Install@m')?.attempt, 1)
})
