import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@skerry/base'
import { machinesOf, sshShells, steps, type HubSide } from '@skerry/provisioning'
import { createTestNetwork, startTestMachine, type TestHost } from '@skerry/testing'
import { simulatedHub } from './batch.ts'
import { programForMachines } from '../../../roles/program/program-for-machines.ts'

export interface CopiedBytes {
  readonly first: number
  readonly again: number
}

/** Measures the bytes that go to a machine for the program: on a bare one, and when the same version is there. */
export async function measureCopiedBytes(
  bundleDirectory: string,
  directory: string,
  signal: AbortSignal,
): Promise<CopiedBytes> {
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  await using machine = await startTestMachine(host, 'copied')
  await using way = await startCountedWay(host)
  const login = { user: 'root', port: way.port, password: machine.passwords.root }
  const request = { address: '127.0.0.1', login, isHostKeyAccepted: () => true }
  const options = {
    role: 'hub' as const,
    bundleDirectory,
    archiveDirectory: join(directory, 'archives'),
  }
  const program: HubSide['program'] = (architecture, scope) =>
    programForMachines(architecture, options, scope)
  const hub = { ...(await simulatedHub(directory)), program }
  const copy = async (): Promise<number> => {
    const before = way.bytes()
    await using shell = await sshShells({ clock: systemClock })(request, signal)
    await install(shell, hub, signal)
    return way.bytes() - before
  }
  return { first: await copy(), again: await copy() }
}

type MachineStep = Extract<(typeof steps)[number], { place: 'machines' }>
type StepShell = Parameters<MachineStep['act']>[0]['shell']

async function install(shell: StepShell, hub: HubSide, signal: AbortSignal): Promise<void> {
  const step = steps.find(({ name }) => name === 'InstallProgram')
  const credentials = { name: 'ssh' }
  const block = { addresses: ['127.0.0.1'], credentials, role: 'Master' as const }
  const machines = machinesOf({ machines: [block] })
  const [machine] = machines
  if (step?.place !== 'machines' || machine === undefined)
    throw new Error('Cannot measure: no step')
  await step.act({
    edge: {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'EdgeCluster',
      metadata: { name: 'bench' },
      spec: { machines: [block] },
    },
    machines,
    master: machine,
    machine,
    shell,
    known: () => [],
    record: () => undefined,
    shellOf: async () => shell,
    alone: (act) => act(),
    hub,
    print: () => undefined,
    conceal: () => undefined,
    clock: systemClock,
    log: silentLogger,
    signal,
  })
}

interface CountedWay extends AsyncDisposable {
  readonly port: number
  /** Returns the bytes that went to the machine so far. */
  bytes(): number
}

/** Opens a port of this process's own network that leads to port 22 of a host. */
async function startCountedWay(host: TestHost): Promise<CountedWay> {
  let bytes = 0
  const server = createServer((socket) => {
    const way = host.start(['busybox', 'nc', host.address, '22'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    // Either side may go at any time.
    for (const each of [socket, way.stdin, way.stdout]) each?.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
    if (way.stdin !== null) socket.pipe(way.stdin)
    way.stdout?.pipe(socket)
    socket.on('close', () => way.kill('SIGKILL'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    bytes: () => bytes,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}
