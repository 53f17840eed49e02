import { silentLogger, simulatedClock } from '@skerry/base'
import type { EdgeCluster, EdgeClusterSpec, MachineStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import type { Shell } from '../contract/shell.ts'
import type { HubSide, MachineContext } from '../contract/step.ts'

export interface TargetScene {
  readonly spec?: Partial<EdgeClusterSpec>
  /** The facts of machines, which the step changes. */
  readonly known: MachineStatus[]
  /** Shells by address. One that lacks is a machine that must not be opened. */
  readonly shells: Readonly<Record<string, Shell>>
  readonly hub?: Partial<HubSide>
  /** Gets the lines that a step prints. */
  readonly printed?: string[]
}

const closed = (): Promise<never> => Promise.reject(new Error('Cannot run: nobody is there'))
const closedShell: Shell = {
  hostKey: '',
  run: closed,
  write: closed,
  upload: closed,
  uploadByDigest: closed,
  [Symbol.asyncDispose]: async () => undefined,
}

const credentials = { name: 'ssh' }

/** Returns the context of a step on a machine of a cluster whose master is 10.0.0.1 and whose node is 10.0.0.2. */
export function contextOn(address: string, scene: TargetScene): MachineContext {
  const edge: EdgeCluster = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', namespace: 'default' },
    spec: {
      machines: [
        { addresses: ['10.0.0.1'], credentials, role: 'Master' },
        { addresses: ['10.0.0.2'], credentials },
      ],
      ...scene.spec,
    },
  }
  const machines = machinesOf(edge.spec)
  const [master] = machines
  const block = { addresses: [address], credentials }
  const machine = machines.find((each) => each.address === address) ?? {
    address,
    port: 22,
    user: 'root',
    role: 'Node' as const,
    block,
  }
  if (master === undefined) throw new Error('Cannot make a context: there is no master')
  const shellOf = async ({ address: asked }: { address: string }): Promise<Shell> => {
    const shell = scene.shells[asked]
    if (shell === undefined) throw new Error(`Cannot open ${asked}: nobody is there`)
    return shell
  }
  return {
    edge,
    machines,
    master,
    machine,
    hub: scene.hub as HubSide, // a step of these tests asks what the scene has
    shellOf,
    alone: (act) => act(),
    shell: scene.shells[address] ?? closedShell,
    known: () => scene.known,
    record(facts) {
      const at = scene.known.findIndex((each) => each.address === address)
      const before = scene.known[at]
      if (before !== undefined) scene.known[at] = { ...before, ...facts }
    },
    print: (text) => void scene.printed?.push(text),
    conceal: () => undefined,
    clock: simulatedClock(),
    log: silentLogger,
    signal: AbortSignal.timeout(60_000),
  }
}
