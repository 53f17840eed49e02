/** Makes a cluster of a machine that has none of our packages and reaches nothing but its hub, from an offline package. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  startTestMachine,
  whyNoMachine,
  type CommandResult,
  type TestMachine,
} from '@skerry/testing'
import { EdgeHub } from './edge-hub.ts'
import { edgeManifest } from './edge-manifest.ts'
import {
  buildPackage,
  makeOperatorKey,
  packageWithImage,
  packageWithProgram,
  type BuiltPackage,
} from './offline-packages.ts'
import { assertKeepsSecrets } from './keeps-secrets.ts'
import { assertHasOnlyHub } from './only-hub.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())

test(
  'a cluster of a machine that reaches nothing but its hub',
  { skip, timeout: 450_000 },
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-offline-'))
    await using _removed = {
      [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
    }
    const key = await makeOperatorKey(directory)
    await mkdir(join(directory, 'packages'))
    const offline = await buildPackage('first', 'guestbook-v1.tar', { directory, key })
    await using hub = await EdgeHub.start(['--package', join(directory, 'packages')])
    const host = await hub.network.addHost(11)
    const machineName = `offline-${process.pid.toString(36)}`
    await using machine = await startTestMachine(host, machineName, { isBare: true })
    const besideHost = await hub.network.addHost(12)
    const besideName = `offline-line-${process.pid.toString(36)}`
    await using beside = await startTestMachine(besideHost, besideName, { isBare: true })
    const aloneHost = await hub.network.addHost(13)
    const aloneName = `offline-site-${process.pid.toString(36)}`
    await using alone = await startTestMachine(aloneHost, aloneName, { isBare: true })
    const machines = { machine, machineName, beside, besideName, alone }
    await tell(t, { hub, ...machines, offline, directory, key })
  },
)

interface Story {
  readonly hub: EdgeHub
  readonly machine: TestMachine
  readonly machineName: string
  /** A machine that the hub does not know. */
  readonly beside: TestMachine
  readonly besideName: string
  /** A machine that becomes a site by itself. */
  readonly alone: TestMachine
  readonly offline: BuiltPackage
  readonly directory: string
  readonly key: string
}

async function tell(t: TestContext, all: Story): Promise<void> {
  const steps: [string, (all: Story) => Promise<void>][] = [
    ['the machine has no route to a mirror and none of the packages', isBare],
    ['it becomes Ready from the package', becomesReady],
    ['an image of the package runs as a pod', runsPod],
    ['a package with another image copies only the files that changed', takesNext],
    [
      'a job brings another program from a package, copies that alone, and the pod goes on',
      upgrades,
    ],
    [
      'another bare machine, which reaches the site alone, becomes a node with its image by one line',
      joinsByLine,
    ],
    ['a bare machine that reaches the hub becomes a site by one line', becomesSite],
    ['its own sources and lists of packages are what they were', keepsSources],
    ['a package that was changed on the machine is refused', refusesChanged],
    [
      'no login that came with a package is written anywhere',
      ({ hub, machine }) => assertKeepsSecrets(hub, [machine], [machine.passwords.keeper]),
    ],
    ['a deletion leaves no part of the package', leavesNothing],
  ]
  for (const [title, act] of steps) await t.test(title, () => act(all))
}

async function isBare({ machine, beside, alone }: Story): Promise<void> {
  for (const each of [machine, beside, alone]) {
    await assertHasOnlyHub(each, ['containerd', 'nft', 'ip', 'iptables'])
    await each.ask(['sh', '-c', `${stateOfApt} > /root/before`])
  }
}

/** Prints the sources, settings and lists of apt. */
const stateOfApt = 'find /etc/apt /var/lib/apt/lists -type f -exec sha256sum {} + | sort'

function manifest({ hub, machine, offline }: Story): string {
  return edgeManifest(
    hub,
    { password: machine.passwords.keeper },
    {
      package: { digest: offline.digest, publicKey: offline.publicKey },
      machines: [
        {
          addresses: [machine.address],
          role: 'Master',
          user: 'keeper',
          acceptNewHostKeys: true,
          credentials: { name: 'login' },
        },
      ],
    },
  )
}

async function becomesReady(all: Story): Promise<void> {
  const { hub, machine } = all
  await hub.apply(manifest(all))
  const edge = await hub.untilPhase('Ready')
  for (const { name, attempt } of edge.status.steps) assert.equal(attempt, 1, name)
  assert.match(hub.step(edge, 'CopyPackage', machine).message, /^\d+ files copied, \d+ MB; 0 were/)
  const { message } = hub.step(edge, 'InstallPackage', machine)
  assert.match(message, /^\d+ system packages, 1 image archives$/)
  const { attempt } = hub.step(edge, 'PrepareMachine', machine)
  assert.equal(attempt, 1)
  for (const look of ['is-enabled', 'is-active']) {
    const { exitCode } = await machine.run(['systemctl', look, '--quiet', 'containerd.service'])
    assert.notEqual(exitCode, 0, `the package's own containerd: ${look}`)
  }
}

function runsPod(all: Story): Promise<void> {
  return greets('hello', 'skerry-examples/guestbook:v1', all)
}

async function greets(name: string, image: string, { hub, machineName }: Story): Promise<void> {
  await hub.applyToSite(`
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default }
spec:
  nodeName: ${machineName}
  containers:
    - { name: hello, image: '${image}', command: [sh, -c, 'echo hello from $HOSTNAME; exec sleep 1000'] }
`)
  await hub.siteKubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=60s')
  assert.equal(await hub.siteKubectl('logs', name), `hello from ${name}\n`)
}

async function takesNext(all: Story): Promise<void> {
  const { hub, machine, offline, directory, key } = all
  const next = await packageWithImage('second', 'guestbook-v2.tar', {
    first: offline,
    directory,
    key,
  })
  await hub.patchSpec({ package: { digest: next.digest, publicKey: next.publicKey } })
  const message = await hub.until('the next package to be copied', async () => {
    const edge = await hub.edge()
    const found = hub.step(edge, 'CopyPackage', machine).message
    return edge.status.phase === 'Ready' && /[1-9]\d* were there/.test(found) && found
  })
  // The index, the manifest and the configuration of the image, and the layer that has changed.
  assert.match(message, /^4 files copied, 1 MB; \d+ were there$/)
  await greets('again', 'skerry-examples/guestbook:v2', all)
}

async function upgrades(all: Story): Promise<void> {
  const { hub, machine, offline, directory, key } = all
  const program = await machine.ask(['cat', '/usr/local/bin/skerry'])
  const next = await packageWithProgram('third', { first: offline, directory, key })
  const given = ['--package', next.digest, '--package-key', `${key}.pub`]
  const words = ['upgrade', 'edge-cluster', 'branch-7', '--job', 'third', '--wait', ...given]
  const made = await hub.skerry(...words, '--namespace', 'edges')
  assert.equal(made.exitCode, 0, made.stderr)
  const steps = await hub.kubectl(
    'get',
    'edgejobcluster',
    'third.branch-7',
    '-n',
    'edges',
    '-o',
    'jsonpath={range .status.steps[*]}{.name}: {.message}{"\\n"}{end}',
  )
  assert.match(steps, /^CopyPackage: 1 files copied, \d+ MB; \d+ were there$/m)
  assert.match(steps, /^InstallPackage: 0 system packages, 1 image archives$/m)
  assert.notEqual(await machine.ask(['cat', '/usr/local/bin/skerry']), program)
  const taken = ['get', 'edgecluster', 'branch-7', '-n', 'edges', '-o']
  assert.equal(await hub.kubectl(...taken, 'jsonpath={.status.package.digest}'), next.digest)
  const restarts = 'jsonpath={.items[*].status.containerStatuses[0].restartCount}'
  assert.equal(await hub.siteKubectl('get', 'pods', '-o', restarts), '0 0')
}

async function joinsByLine(all: Story): Promise<void> {
  const { hub, machine, beside, besideName } = all
  // Answers of the hub do not come back to this machine.
  const cut = ['ip', 'route', 'add', 'blackhole', `${beside.address}/32`]
  assert.equal((await hub.host.run(cut)).exitCode, 0)
  const create = ['skerry', 'token', 'create', '--print-join-command', '--machine', '--ttl', '10m']
  const line = await machine.ask(create, { timeoutMs: 60_000 })
  assert.match(line, / --package sha256:[0-9a-f]{64} --package-key MCowBQYDK2VwAyEA/)
  const forged = line.replace(/(echo [a-z0-9]{6}\.)[a-z0-9]{16}/, '$1aaaaaaaaaaaaaaaa')
  const other = await paste(beside, forged)
  assert.notEqual(other.exitCode, 0, other.stdout)
  assert.match(other.stderr, /is not signed with the token/)
  assert.notEqual((await beside.run(['sh', '-c', 'command -v containerd'])).exitCode, 0)
  const { exitCode, stdout, stderr } = await paste(beside, line)
  assert.equal(exitCode, 0, stdout + stderr)
  assert.match(stdout, /fetching \d+ files, \d+ MB, from https:/)
  assert.match(stdout, /\d\d? system packages, 1 image archives/)
  await greets('beside', 'skerry-examples/guestbook:v1', { ...all, machineName: besideName })
  await hub.siteKubectl('delete', 'pod', 'beside', '--grace-period=1', '--timeout=60s')
}

async function becomesSite({ hub, alone, offline, key }: Story): Promise<void> {
  const words = ['cluster', 'join-command', 'branch-8', '--machine', '--server', hub.server]
  const given = ['--package', offline.digest, '--package-key', `${key}.pub`]
  const made = await hub.skerry(...words, '--allow-masters', ...given)
  assert.equal(made.exitCode, 0, made.stderr)
  const { exitCode, stdout, stderr } = await paste(alone, made.stdout)
  assert.equal(exitCode, 0, stdout + stderr)
  assert.match(stdout, /cluster branch-8 is Ready on the hub/)
  const line = await alone.ask(
    ['skerry', 'token', 'create', '--print-join-command', '--machine', '--ttl', '10m'],
    { timeoutMs: 60_000 },
  )
  assert.ok(line.includes(` --package ${offline.digest} `), 'its own lines name the package')
}

function paste(machine: TestMachine, line: string): Promise<CommandResult> {
  return machine.run(['sh'], { input: line, timeoutMs: 180_000 })
}

async function keepsSources({ machine, beside, alone }: Story): Promise<void> {
  for (const each of [machine, beside, alone]) {
    const before = await each.ask(['cat', '/root/before'])
    assert.equal(await each.ask(['sh', '-c', stateOfApt]), before)
    assert.equal(await each.ask(['dpkg', '--audit']), '')
  }
}

async function refusesChanged({ hub, machine }: Story): Promise<void> {
  // The one to which the job has upgraded; parts of the one before are gone.
  const path = 'jsonpath={.status.package.digest}'
  const digest = await hub.kubectl('get', 'edgecluster', 'branch-7', '-n', 'edges', '-o', path)
  const packages = '/var/lib/skerry/packages'
  const install = (program = 'skerry') =>
    machine.run([
      program,
      'machine',
      'install-package',
      `--package=${digest}`,
      '--public-key-file=/etc/skerry/package.pub',
    ])
  assert.equal((await install()).exitCode, 0)
  const blob = (await machine.ask(['ls', '-S', `${packages}/blobs/sha256`])).split('\n')[1] ?? ''
  const file = `${packages}/blobs/sha256/${blob}`
  const changes = [
    [`printf x >> ${file}`, 'it has more than'],
    [
      `truncate -s -1 ${file}; printf changed | dd of=${file} bs=1 seek=1000 conv=notrunc status=none`,
      'its content differs from its name',
    ],
  ] as const
  for (const [change, why] of changes) {
    await machine.ask(['sh', '-c', change])
    const { exitCode, stderr } = await install()
    assert.equal(exitCode, 1)
    assert.match(stderr, new RegExp(`Cannot use ${file}: ${why}`))
  }
}

async function leavesNothing({ hub, machine }: Story): Promise<void> {
  await hub.kubectl('delete', 'edgecluster', 'branch-7', '-n', 'edges', '--timeout=120s')
  assert.notEqual((await machine.run(['test', '-e', '/var/lib/skerry'])).exitCode, 0)
}
