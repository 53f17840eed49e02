import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { blocksOf, EdgeScene, first, second } from '../testing/edge-scene.ts'
import { takeScript } from './take-script.ts'

interface Place extends AsyncDisposable {
  readonly settings: string
  readonly plan: string
  /** Runs the script with this plan, and returns the one that the machine has then. */
  take(plan: string): Promise<string>
}

async function machinePlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-take-'))
  const [settings, plan] = [
    join(directory, 'settings.json'),
    join(directory, 'etc', 'machine.json'),
  ]
  return {
    settings,
    plan,
    async take(input) {
      const child = spawn('sh', ['-c', takeScript, 'sh', settings, plan])
      // A script that finds the answer in the settings may end without having read its input.
      child.stdin.on('error', () => undefined)
      child.stdin.end(input)
      const errors = text(child.stderr)
      const answer = await text(child.stdout)
      assert.equal(await errors, '')
      return answer
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

test('of many clusters that take a machine at the same time, one has it', async () => {
  await using place = await machinePlace()
  const plans = Array.from({ length: 20 }, (_, at) => `{"clusterName":"shop-${at}"}`)
  const answers = await Promise.all(plans.map((plan) => place.take(plan)))
  assert.deepEqual(new Set(answers).size, 1)
  assert.ok(plans.includes(answers[0] ?? ''))
  assert.equal(await readFile(place.plan, 'utf8'), answers[0])
  assert.deepEqual(await readdir(join(place.plan, '..')), ['machine.json'])
})

test('the settings of roles that run count before a plan, and one that a power cut has emptied does not', async () => {
  await using place = await machinePlace()
  await mkdir(join(place.plan, '..'))
  await writeFile(place.plan, '')
  assert.equal(await place.take('{"clusterName":"shop-1"}'), '{"clusterName":"shop-1"}')
  await writeFile(place.settings, '{"clusterName":"shop-2"}')
  assert.equal(await place.take('{"clusterName":"shop-1"}'), '{"clusterName":"shop-2"}')
})

const others: readonly [path: string, text: string][] = [
  ['/etc/skerry/machine.json', '{"clusterName":"branch-8"}'],
  ['/var/lib/skerry/settings.json', '{"clusterName":"branch-8","nodeName":"m"}'],
]

for (const [path, content] of others) {
  test(`a machine that another cluster has by ${path} is left as it is, though nobody looked before`, async () => {
    const scene = new EdgeScene(
      {
        machines: blocksOf([first], [second]),
        files: [{ path: '/etc/motd', from: { configMap: 'files', key: 'motd' } }],
        skipSteps: ['Preflight'],
      },
      { 'ConfigMap files/motd': 'welcome' },
    )
    const taken = scene.world.machine(second)
    taken.files.set(path, content)
    taken.running.set('skerry-node', 'of branch-8')
    const before = new Map(taken.files)
    await scene.settle()
    assert.match(
      scene.step(`CopyFiles@${second}`),
      /^Failed: 10\.0\.0\.2 belongs to cluster branch-8: take it out of one of the two/,
    )
    scene.story.mark({ deletionTimestamp: '2026-01-01T00:00:00Z' })
    await scene.settle()
    assert.match(scene.step(`CleanMachine@${second}`), /^Done: it belongs to cluster branch-8/)
    assert.equal(scene.story.status.phase, 'Ready')
    assert.deepEqual(taken.files, before)
    assert.ok(taken.running.has('skerry-node'))
    assert.equal(scene.world.machine(first).running.size, 0)
  })
}
