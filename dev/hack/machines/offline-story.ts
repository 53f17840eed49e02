import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hostSuite, layerOfFiles, writeOciArchive } from '@skerry/testing'
import { EdgeHub } from '../../e2e/edge-hub.ts'
import { makeOperatorKey } from '../../e2e/offline-packages.ts'
import { buildForeignProgram, isThere } from '../other-architecture/foreign-program.ts'
import { unpackForeign } from '../virtual-machines/foreign-root.ts'
import {
  makeVirtualMachine,
  virtualMachineKey,
  type VirtualMachine,
} from '../virtual-machines/virtual-machine.ts'
import {
  createHello,
  leavesNothing,
  namespace,
  playChapters,
  stateOf,
  told,
  type Chapter,
  type Story,
} from './story.ts'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const image = 'docker.io/skerry-examples/shell:1'
const architecture = 'arm64'
/** The emulator of another processor is slower still. */
const patienceMs = 7_200_000

interface Scene {
  readonly hub: EdgeHub
  readonly machine: VirtualMachine
  readonly offline: Offline
}

interface Offline {
  /** The directory of packages. */
  readonly directory: string
  readonly digest: string
  readonly publicKeyFile: string
}

const chapters: readonly Chapter<Scene>[] = [
  ['the machine is bare, and of aarch64', isBare],
  ['a cluster is made of the machine, from an offline package', isMade],
  ['a pod runs', runsPod],
  ['the machine is rebooted, and the pod runs again', rebootsMachine],
]

/** A machine of aarch64 that reaches nothing but its hub, which has another architecture. */
export const offlineStory: Story = {
  architecture,
  async play() {
    const scratch = await mkdtemp(join(tmpdir(), 'skerry-machines-'))
    await using _removed = {
      [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }),
    }
    const startMs = performance.now()
    const offline = await makePackage(scratch)
    told('the program and the package are made', performance.now() - startMs)
    await using hub = await EdgeHub.start(['--package', offline.directory], { patienceMs })
    const host = await hub.network.addHost(11)
    await using machine = await makeVirtualMachine({
      name: 'machine',
      host,
      from: hub.host,
      memoryMegabytes: 1_536,
      architecture,
    })
    told('the machine boots', await machine.start())
    const before = await stateOf([machine])
    await playChapters(chapters, { hub, machine, offline })
    await playChapters([leavesNothing], { hub, before, packaged })
  },
}

async function makePackage(scratch: string): Promise<Offline> {
  const program = join(scratch, 'skerry-linux-arm64')
  await buildForeignProgram(program)
  const archive = join(scratch, 'shell.tar')
  await buildImage(archive, join(scratch, 'busybox'))
  const key = await makeOperatorKey(scratch)
  const directory = join(scratch, 'packages')
  await mkdir(directory)
  const { stdout } = await execute(join(root, 'skerry'), [
    'package',
    'create',
    `--key=${key}.key`,
    `--output=${join(directory, 'first')}`,
    `--release=${await release()}`,
    '--architecture=aarch64',
    `--machine-program=aarch64=${program}`,
    `--image=${archive}`,
    `--cache-dir=${join(root, 'node_modules/.cache/skerry-packages')}`,
  ])
  return { directory, digest: stdout.trim(), publicKeyFile: `${key}.pub` }
}

/** Makes an image with nothing in it but a static shell. */
async function buildImage(path: string, scratch: string): Promise<void> {
  await unpackForeign(['busybox-static'], scratch)
  const places = ['bin/busybox', 'usr/bin/busybox'].map((place) => join(scratch, place))
  const there = await Promise.all(places.map(isThere))
  const content = await readFile(places[there.indexOf(true)] ?? '')
  const files = [
    { path: 'bin' },
    { path: 'bin/busybox', content, mode: 0o755 },
    { path: 'bin/sh', linkTo: 'busybox' },
  ]
  const layers = [await layerOfFiles(files)]
  await writeOciArchive(path, { reference: image, architecture, layers, config: {} })
}

/** The name of the host's release, by which packages know it. */
async function release(): Promise<string> {
  const suite = await hostSuite()
  return suite === 'trixie' ? 'debian-13' : 'debian-12'
}

async function isBare({ machine }: Scene): Promise<void> {
  assert.equal(await machine.ask(['uname', '-m']), 'aarch64\n')
  assert.equal(await machine.ask(['systemctl', 'is-system-running', '--wait']), 'running\n')
  for (const name of ['containerd', 'nft', 'iptables']) {
    const { exitCode } = await machine.run(['sh', '-c', `command -v ${name}`])
    assert.notEqual(exitCode, 0, name)
  }
  assert.equal(await machine.ask(['ip', 'route', 'show', 'default']), '')
}

async function isMade({ hub, machine, offline }: Scene): Promise<void> {
  await hub.kubectl('create', 'namespace', namespace)
  const login = ['--machine', `root@${machine.address}`, '--accept-new-host-keys']
  const key = ['--private-key-file', await virtualMachineKey(architecture)]
  const given = ['--package', offline.digest, '--package-key', offline.publicKeyFile]
  const place = ['--namespace', namespace, '--hub-server', hub.server]
  const words = ['create', 'edge-cluster', 'branch-7', ...place, ...login, ...key, ...given]
  const made = await hub.skerry(...words)
  assert.equal(made.exitCode, 0, made.stderr)
  // A machine that is so slow may miss the time of a step more often than another.
  await hub.patchSpec({ retry: { attempts: 50 } })
  const { status } = await hub.untilPhase('Ready')
  for (const { name, attempt, message } of status.steps) {
    console.log(`         ${name}, attempt ${attempt}: ${message}`)
  }
}

async function runsPod({ hub, machine }: Scene): Promise<void> {
  const command = ['/bin/sh', '-c', '/bin/busybox uname -m; exec /bin/busybox sleep 100000']
  await createHello(hub, machine, { image, command })
  await hub.until('the pod to run', async () => {
    const pod = await hub.siteKubectl('get', 'pod', 'hello', '--request-timeout=60s')
    return /hello +1\/1 +Running/.test(pod)
  })
  assert.equal(await hub.siteKubectl('logs', 'hello'), 'aarch64\n')
}

async function rebootsMachine({ hub, machine }: Scene): Promise<void> {
  told('  the machine is back', await machine.reboot())
  await hub.until('the pod to run again', async () => {
    const pod = await hub.siteKubectl('get', 'pod', 'hello', '--request-timeout=60s')
    return /hello +1\/1 +Running +[1-9]/.test(pod)
  })
}

/** Prints the files of packages: those that they list, the links of their alternatives, and one that netbase's script makes. */
const packagedScript = `
cat /var/lib/dpkg/info/*.list
find /etc/alternatives -type l
find /usr /etc -xdev -type l -lname '/etc/alternatives/*'
echo /etc/networks
`

/** Returns whether a line is of a system package, or of the state of dpkg and apt. */
async function packaged(machine: VirtualMachine): Promise<(line: string) => boolean> {
  const text = await machine.ask(['sh', '-c', packagedScript])
  // Debian keeps what packages have in /lib and /bin below /usr.
  const merged = (path: string): string => path.replace(/^\/(bin|sbin|lib\w*)\//, '/usr/$1/')
  const listed = new Set(text.split('\n').map((path) => `file ${merged(path)}`))
  const state = /^file \/var\/(lib\/(dpkg|apt)|cache\/(apt|debconf))(\/|$)/
  return (line) => listed.has(line) || state.test(line)
}
