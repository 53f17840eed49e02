import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepError, type JobOrder } from '../contract/step.ts'
import type { RunOptions, RunResult, Shell } from '../contract/shell.ts'
import type { EdgeJobSpec } from '../kind/edge-job.ts'
import { contextOn } from '../testing/target-scene.ts'
import { checkMachine } from './check-machine.ts'
import { pullImages } from './pull-images.ts'

interface Machine {
  readonly freeKilobytes?: number
  readonly memoryKilobytes?: number
  /** The images that its registry does not have. */
  readonly missing?: readonly string[]
}

interface Played {
  readonly pulled: string[]
  readonly timeouts: (number | undefined)[]
  readonly shell: Shell
}

function play({ freeKilobytes = 9e6, memoryKilobytes = 9e6, missing = [] }: Machine): Played {
  const pulled: string[] = []
  const timeouts: (number | undefined)[] = []
  const run = async (words: readonly string[], options: RunOptions = {}): Promise<RunResult> => {
    const answer = (stdout: string): RunResult => ({ exitCode: 0, stdout, stderr: '' })
    const [program, , verb] = words
    if (program === 'df') return answer(`Filesystem\n/dev/x 1 1 ${freeKilobytes} 1% /\n`)
    if (program === 'cat') return answer(`MemTotal: 1 kB\nMemAvailable:  ${memoryKilobytes} kB\n`)
    if (verb !== 'pull') return answer('x86_64\n')
    const image = words.at(-1) ?? ''
    timeouts.push(options.timeoutMs)
    if (missing.includes(image)) return { exitCode: 1, stdout: '', stderr: 'not found\n' }
    pulled.push(image)
    return answer('')
  }
  const shell: Shell = {
    hostKey: '',
    run,
    write: async () => undefined,
    upload: async () => undefined,
    uploadByDigest: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
  return { pulled, timeouts, shell }
}

function orderOf(spec: Partial<EdgeJobSpec>): JobOrder {
  const clusters = { names: ['branch-7'] }
  const job = {
    apiVersion: '',
    kind: 'EdgeJob',
    metadata: { name: 'job' },
    spec: { clusters, ...spec },
  }
  return { job, confirmed: [] }
}

const contextOf = ({ shell }: Played) =>
  contextOn('10.0.0.2', {
    known: [],
    shells: { '10.0.0.2': shell },
    hub: {
      program: async () => ({ version: '0.2.0', files: [], launcher: () => '' }),
    },
  })

/** The checks that another machine must answer are those of other tests. */
const only = { health: false, versionSkew: false }
const images = ['shop/till:1', 'shop/gone:1', 'shop/door:1']
const upgrade = { version: '0.2.0' }

const findings: readonly (readonly [what: string, Partial<EdgeJobSpec>, Machine, RegExp])[] = [
  [
    'an upgrade finds little memory',
    { upgrade, checks: only },
    { memoryKilobytes: 50_000 },
    /48 MB of memory are available: 100 MB are needed$/,
  ],
  [
    'an upgrade finds a full disk',
    { upgrade, checks: only },
    { freeKilobytes: 1_024 },
    /lib\/skerry has 1 MB free: 600 MB are needed$/,
  ],
  [
    'a pull of images finds a full disk',
    { pullImages: { images }, checks: only },
    { freeKilobytes: 500_000 },
    /10\.0\.0\.2: \/var\/lib\/skerry has 488 MB free: images need 1000 MB$/,
  ],
]
for (const [what, spec, machine, text] of findings) {
  test(`${what}, and not if the check is left out`, async () => {
    await assert.rejects(checkMachine(orderOf(spec))(contextOf(play(machine))), text)
    const checks = { ...only, disk: false, memory: false }
    await checkMachine(orderOf({ ...spec, checks }))(contextOf(play(machine)))
  })
}

test('an image that cannot be pulled holds up no other one, and the error names it', async () => {
  const played = play({ missing: ['shop/gone:1'] })
  await assert.rejects(
    pullImages(orderOf({ pullImages: { images } }))(contextOf(played)),
    (error) => {
      assert.ok(error instanceof StepError)
      assert.match(error.message, /^1 of 3 images were not pulled: shop\/gone:1: .*not found$/)
      assert.equal(error.findings.length, 1)
      return true
    },
  )
  assert.deepEqual(played.pulled, ['shop/till:1', 'shop/door:1'])
})

test('a job that pulls images bounds the time of each, and an upgrade that of its start', async () => {
  const pull = play({})
  await pullImages(orderOf({ pullImages: { images }, timeoutSeconds: 60 }))(contextOf(pull))
  assert.deepEqual(pull.timeouts, [60_000, 60_000, 60_000])
  const withUpgrade = play({})
  await pullImages(orderOf({ upgrade: { ...upgrade, images: ['a'] }, timeoutSeconds: 60 }))(
    contextOf(withUpgrade),
  )
  assert.deepEqual(withUpgrade.timeouts, [1_800_000])
})
