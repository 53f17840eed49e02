import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { silentLogger, systemClock } from '@skerry/base'
import { machinesOf, sshShells, steps, type HubSide, type ProgramFiles } from '@skerry/provisioning'
import { createTestNetwork, startTestMachine, type TestHost } from '@skerry/testing'
import { simulatedHub } from './batch.ts'
import { programForMachines } from '../../../roles/program/program-for-machines.ts'

export interface CopiedBytes {
  readonly first: number
  readonly again: number
  readonly upgrade: number
}

export interface Measured {
  readonly program: CopiedBytes
  /** The same for an offline package. */
  readonly package: CopiedBytes
}

interface Sources {
  /** The directories of two bundles: the program, and its next version. */
  readonly bundles: readonly [string, string]
  readonly directory: string
}

/**
 * Measures the bytes that go to a machine, for the program and for an offline package: to a bare machine, to one that has
 * the same already, and to one that has the version before.
 */
export async function measureCopiedBytes(
  { bundles, directory }: Sources,
  signal: AbortSignal,
): Promise<Measured> {
  const [program, next] = await Promise.all(
    bundles.map((bundleDirectory) => programIn(bundleDirectory, directory, signal)),
  )
  if (program === undefined || next === undefined) throw new Error('Cannot measure: no bundle')
  const extras = await extrasIn(directory)
  const hub = await simulatedHub(directory)
  const measured = async (name: StepName, parts: readonly HubSide[]): Promise<CopiedBytes> => {
    const [first = 0, again = 0, upgrade = 0] = await copies(name, parts, signal)
    return { first, again, upgrade }
  }
  const giving = (files: ProgramFiles): HubSide => ({ ...hub, program: async () => files })
  const packing = async (files: ProgramFiles, debs: readonly string[]): Promise<HubSide> => {
    const found = await packageOf(files, [...debs, ...extras.debs], extras.images)
    return { ...hub, package: async () => found }
  }
  const [own, other] = [giving(program), giving(next)]
  const [whole, later] = [
    await packing(program, [extras.old]),
    await packing(next, [extras.changed]),
  ]
  return {
    program: await measured('InstallProgram', [own, own, other]),
    package: await measured('CopyPackage', [whole, whole, later]),
  }
}

function programIn(
  bundleDirectory: string,
  directory: string,
  signal: AbortSignal,
): Promise<ProgramFiles> {
  const archiveDirectory = join(directory, 'archives')
  const options = { role: 'hub' as const, bundleDirectory, archiveDirectory }
  return programForMachines(process.arch === 'arm64' ? 'aarch64' : 'x86_64', options, signal)
}

/** The parts of a package besides the program: about as large as those of a node with a few images. */
async function extrasIn(directory: string) {
  const made = async (name: string, bytes: number): Promise<string> => {
    const path = join(directory, name)
    await writeFile(path, randomBytes(bytes))
    return path
  }
  const debs: string[] = []
  for (let index = 0; index < 40; index++) debs.push(await made(`deb-${index}`, 1_000_000))
  const images = [await made('image-0', 30_000_000), await made('image-1', 30_000_000)]
  const [old, changed] = [await made('deb-old', 1_000_000), await made('deb-new', 1_000_000)]
  return { debs, images, old, changed }
}

type MachinePackage = Awaited<ReturnType<HubSide['package']>>

async function packageOf(
  { version, files, archive, launcher }: ProgramFiles,
  debs: readonly string[],
  images: readonly string[],
): Promise<MachinePackage> {
  const packed = files.map(async ({ from, to }) => ({ file: await digested(from), to }))
  const named = debs.map(async (from) => {
    const file = await digested(from)
    return { name: `part-${file.sha256.slice(0, 12)}`, version: '1', file }
  })
  return {
    manifest: Buffer.from('{}'),
    signature: Buffer.from('x'),
    program: {
      version,
      launcher,
      files: await Promise.all(packed),
      ...(archive === undefined ? {} : { archive: await digested(archive) }),
    },
    debs: await Promise.all(named),
    images: await Promise.all(images.map(digested)),
  }
}

async function digested(from: string) {
  const hash = createHash('sha256')
  await pipeline(createReadStream(from), hash)
  return { from, sha256: hash.digest('hex'), bytes: (await stat(from)).size }
}

/** Returns the bytes that went to a machine, which is bare at first, for each of these hubs. */
async function copies(
  name: StepName,
  hubs: readonly HubSide[],
  signal: AbortSignal,
): Promise<number[]> {
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  await using machine = await startTestMachine(host, 'copied')
  await using way = await startCountedWay(host)
  const login = { user: 'root', port: way.port, password: machine.passwords.root }
  const request = { address: '127.0.0.1', login, isHostKeyAccepted: () => true }
  const copied: number[] = []
  for (const hub of hubs) {
    const before = way.bytes()
    await using shell = await sshShells({ clock: systemClock })(request, signal)
    await act(name, { shell, hub, signal })
    copied.push(way.bytes() - before)
  }
  return copied
}

type StepName = 'InstallProgram' | 'CopyPackage'
type MachineStep = Extract<(typeof steps)[number], { place: 'machines' }>
type StepContext = Parameters<MachineStep['act']>[0]

async function act(
  name: StepName,
  { shell, hub, signal }: Pick<StepContext, 'shell' | 'hub' | 'signal'>,
): Promise<void> {
  const step = steps.find((each) => each.name === name)
  const credentials = { name: 'ssh' }
  const block = { addresses: ['127.0.0.1'], credentials, role: 'Master' as const }
  const machines = machinesOf({ machines: [block] })
  const [machine] = machines
  if (step?.place !== 'machines' || machine === undefined)
    throw new Error('Cannot measure: no step')
  const offline = { package: { digest: `sha256:${'0'.repeat(64)}`, publicKey: '' } }
  await step.act({
    edge: {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'EdgeCluster',
      metadata: { name: 'bench' },
      spec: { machines: [block], ...(name === 'CopyPackage' ? offline : {}) },
    },
    machines,
    master: machine,
    machine,
    shell,
    known: () => [],
    record: () => undefined,
    shellOf: async () => shell,
    alone: (work) => work(),
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
