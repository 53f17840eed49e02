import { silentLogger, simulatedClock } from '@skerry/base'
import type { HubSide, MachineContext, ReadSource } from '../contract/step.ts'
import { StepError } from '../contract/step.ts'
import type { EdgeCluster, EdgeClusterSpec, MachineStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { fakeShell, type FakeAnswer, type FakeShell } from './fake-shell.ts'

/** A step's context on one machine, with everything that it has done there. */
export interface StepScene {
  readonly context: MachineContext
  readonly shell: FakeShell
  readonly printed: string[]
  readonly concealed: string[]
  readonly recorded: Partial<MachineStatus>[]
}

export interface SceneOptions {
  readonly spec?: Partial<EdgeClusterSpec>
  readonly status?: EdgeCluster['status']
  readonly answer?: FakeAnswer
  /** Values of Secrets and ConfigMaps by `<kind> <name>/<key>`. */
  readonly values?: Readonly<Record<string, string>>
  readonly known?: readonly MachineStatus[]
  readonly nowMs?: number
}

/** Makes the context of a step on the first machine, the master, which shares its shell with all others. */
export function stepScene(options: SceneOptions = {}): StepScene {
  const { spec = {}, status, answer, values = {}, known = [], nowMs = 0 } = options
  const credentials = { name: 'ssh' }
  const edge: EdgeCluster = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', namespace: 'shops' },
    spec: { machines: [{ addresses: ['10.0.0.11'], credentials, role: 'Master' }], ...spec },
    ...(status === undefined ? {} : { status }),
  }
  const machines = machinesOf(edge.spec)
  const [machine] = machines
  if (machine === undefined) throw new RangeError('Cannot make a scene: it has no machine')
  const shell = fakeShell(answer)
  const printed: string[] = []
  const concealed: string[] = []
  const recorded: Partial<MachineStatus>[] = []
  const context: MachineContext = {
    edge,
    machines,
    master: machine,
    machine,
    shell,
    hub: hubWith(values),
    shellOf: async () => shell,
    alone: (act) => act(),
    print: (text) => void printed.push(text),
    conceal: (secrets) => void concealed.push(...secrets),
    known: () => known,
    record: (facts) => void recorded.push(facts),
    clock: simulatedClock(nowMs),
    log: silentLogger,
    signal: new AbortController().signal,
  }
  return { context, shell, printed, concealed, recorded }
}

function hubWith(values: Readonly<Record<string, string>>): HubSide {
  const missing = async (): Promise<never> => {
    throw new Error('The scene has no such answer')
  }
  return {
    server: ({ spec }) => spec.hubServer ?? 'https://10.0.0.1:7443',
    async read({ kind, name, key }: ReadSource) {
      const text = values[`${kind} ${name}/${key}`]
      if (text === undefined) throw new StepError(`${kind} ${name} has no key ${key}`)
      return Buffer.from(text)
    },
    claim: missing,
    createToken: missing,
    isReady: missing,
    forget: missing,
    removeLogins: missing,
    program: missing,
    recordProgram: missing,
    recordConfiguration: missing,
    dial: missing,
    imports: { keepJoin: missing, endJoin: missing, state: missing, removeAgent: missing },
    package: missing,
  }
}
