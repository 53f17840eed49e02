import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import type { HubSide, JobOrder, MachineContext } from '../contract/step.ts'
import { StepError } from '../contract/step.ts'
import type { PackageSource } from '../kind/edge-cluster.ts'
import { jobSteps } from '../steps/job-steps-table.ts'
import { FakeCluster, fakePackage, type FakeProgram } from '../testing/fake-machine.ts'
import { stepScene } from '../testing/step-scene.ts'

const old = '0.1.0-aaaaaaaaaaaa'
const good = '0.2.0-bbbbbbbbbbbb'
const bad = '0.2.1-cccccccccccc'
const programs: Readonly<Record<string, FakeProgram>> = {
  [old]: { schema: 1 },
  [good]: { schema: 1 },
  [bad]: { schema: 1, isBroken: true },
}
const packagesOf: Readonly<Record<string, string>> = { '0a': old, '0b': good, '0c': bad }
const recordPath = '/var/lib/skerry/packages/installed.json'

function sourceOf(hex: string): PackageSource {
  return { digest: `sha256:${hex.repeat(32)}`, publicKey: `key of ${hex}` }
}

/** A machine of version 0.1.0 and a job that upgrades it to the package of these hexadecimal digits. */
function startJob(hex: string) {
  const clock = simulatedClock(Date.parse('2026-01-01T00:00:00Z'))
  const cluster = new FakeCluster(['10.0.0.11'], { programs, clock })
  const [machine] = cluster.machines
  assert.ok(machine)
  const recorded: string[] = []
  const scene = stepScene()
  const hub: HubSide = {
    ...scene.context.hub,
    async package({ digest }, { release }) {
      const known = packagesOf[digest.slice(7, 9)]
      if (known === undefined || release !== 'debian-12') {
        throw new StepError(`no package for ${release}`, { isFinal: true })
      }
      return fakePackage(known, digest.slice(7))
    },
    async recordProgram(_edge, { version, package: taken }) {
      recorded.push(`${version} ${taken?.digest.slice(7, 9) ?? 'no package'}`)
    },
  }
  const shell = machine.shell()
  const context: MachineContext = {
    ...scene.context,
    shell,
    hub,
    clock: { ...clock, sleep: (ms) => clock.advance(ms) },
    shellOf: async () => shell,
  }
  const spec = { clusters: { names: ['branch-7'] }, upgrade: { package: sourceOf(hex) } }
  const uid = '0f0e0d0c-1111'
  const job = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeJob',
    metadata: { name: 'job', namespace: 'shops', uid },
    spec: { ...spec, timeoutSeconds: 20 },
  }
  const order: JobOrder = { job, confirmed: [] }
  return { context, machine, recorded, order, run: (name: string) => run(name, order, context) }
}

async function run(name: string, order: JobOrder, context: MachineContext): Promise<string> {
  const step = jobSteps(order).find((each) => each.name === name)
  assert.ok(step?.place === 'machines' && step.applies?.(context.edge) !== false, name)
  return step.act(context)
}

type Job = ReturnType<typeof startJob>

/** Installs a package by hand, as its EdgeCluster has done before the job. */
function hadPackage({ machine }: Job, hex: string): void {
  const { digest, publicKey } = sourceOf(hex)
  machine.files.set(`/var/lib/skerry/packages/${digest.slice(7)}/manifest.json`, '{}')
  machine.files.set('/etc/skerry/package.pub', publicKey)
  machine.files.set(recordPath, JSON.stringify({ digest }))
}

const before = ['CheckMachine', 'CopyPackage', 'InstallProgram', 'BackupStore']
const change = ['InstallPackage', 'SwitchProgram', 'MachineReady']

test('a job with a package copies its files, installs it by its own program, and switches to that', async () => {
  const job = startJob('0b')
  hadPackage(job, '0a')
  for (const name of before) await job.run(name)
  assert.equal(job.machine.version, old)
  assert.deepEqual(job.machine.packages, [])
  for (const name of change) await job.run(name)
  assert.equal(job.machine.version, good)
  assert.deepEqual(job.machine.packages, [`0b by ${good} with key of 0b`])
  assert.deepEqual(job.recorded, [`${good} 0b`])
  await job.run('RemoveOldPrograms')
  assert.deepEqual(job.machine.below('/usr/local/lib/skerry').toSorted(), [old, good])
})

test('every step may be done twice', async () => {
  const job = startJob('0b')
  hadPackage(job, '0a')
  for (const name of [...before, ...change]) {
    await job.run(name)
    await job.run(name)
  }
  assert.equal(job.machine.version, good)
  assert.equal(await job.run('CopyPackage'), '0 files copied, 0 MB; 1 were there')
})

for (const hadOne of [true, false]) {
  const what = hadOne ? 'its former package' : 'no package'
  test(`a machine whose new program does not run gets its former program and ${what}`, async () => {
    const job = startJob('0c')
    if (hadOne) hadPackage(job, '0a')
    for (const name of before) await job.run(name)
    for (const name of ['InstallPackage', 'InstallPackage', 'SwitchProgram']) await job.run(name)
    await assert.rejects(job.run('MachineReady'), /not Ready after 20 s/)
    assert.match(await job.run('RollBack'), /^Ready again with 0\.1\.0/)
    assert.deepEqual([job.machine.version, job.machine.roles.size], [old, 2])
    const last = job.machine.packages.at(-1)
    assert.equal(last, hadOne ? `0a by ${old} with key of 0a` : `0c by ${bad} with key of 0c`)
    assert.deepEqual(job.recorded, [`${old} no package`])
    assert.equal(await job.run('RollBack'), 'nothing was changed')
  })
}

test('a package that could not be installed whole is taken back before the program was changed', async () => {
  const job = startJob('0b')
  hadPackage(job, '0a')
  for (const name of [...before, 'InstallPackage']) await job.run(name)
  assert.equal(await job.run('RollBack'), 'the former package is installed again')
  assert.equal(job.machine.packages.at(-1), `0a by ${old} with key of 0a`)
  assert.equal(job.machine.restarts, 0)
})

test('a machine of another system than the package is for is refused before anything is copied', async () => {
  const job = startJob('0b')
  job.machine.release = 'debian-13'
  await assert.rejects(job.run('CheckMachine'), /no package for debian-13/)
  assert.deepEqual(job.machine.below('/var/lib/skerry/packages'), [])
})

test('a file of the package that was damaged on the machine is not unpacked', async () => {
  const job = startJob('0b')
  await job.run('CopyPackage')
  job.machine.files.delete(`/var/lib/skerry/packages/blobs/sha256/${'0b'.repeat(32)}`)
  await assert.rejects(job.run('InstallProgram'), /damaged or gone; run the step CopyPackage again/)
})

test('a job without a package has none of its steps', () => {
  const { order, context } = startJob('0b')
  const spec = { ...order.job.spec, upgrade: { version: '0.2.0' } }
  const steps = jobSteps({ ...order, job: { ...order.job, spec } })
  const names = steps.filter(({ applies }) => applies?.(context.edge) !== false)
  assert.ok(names.every(({ name }) => !name.includes('Package')))
})
