import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeJobResource, type EdgeJob } from '@skerry/provisioning'
import { skerry, startCommandedHub } from '../../../testing/scenes/hub-commands.ts'
import type { TestHub } from '../../../testing/scenes/test-fleet.ts'
import { until } from '../../../testing/until.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = 'default'

const jobNamed = ({ admin }: TestHub, name: string): Promise<EdgeJob> =>
  admin.resource(edgeJobResource).get({ namespace, name }, soon())

test('commands make jobs as kubectl would, and a wrong one is refused in a line with its field', async () => {
  await using fleet = await startCommandedHub()
  const made = await skerry(
    fleet,
    'upgrade',
    'edge-cluster',
    '--selector',
    'tier=shop,region=north',
    '--to',
    '0.1.0',
    '--job',
    'spring',
    '--nodes',
    '--machines-at-once',
    '3',
    '--failure-tolerance',
    '5%',
    '--require-confirmation',
    '--skip-check',
    'health',
    '--pull-image',
    'registry.example/a:1',
  )
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /EdgeJob spring begins; see "skerry edge-job watch spring"/)
  assert.deepEqual((await jobNamed(fleet, 'spring')).spec, {
    upgrade: { version: '0.1.0', images: ['registry.example/a:1'] },
    clusters: { labelSelector: { matchLabels: { tier: 'shop', region: 'north' } } },
    machines: { role: 'Node' },
    machinesAtOnce: 3,
    failureTolerance: '5%',
    requireConfirmation: true,
    checks: { health: false },
  })
  const odd = await skerry(fleet, 'upgrade', 'edge-cluster', 'branch-7', '--to', '1;touch /x')
  assert.equal(odd.code, 2)
  assert.match(odd.err, /^skerry: Cannot make a job .*spec\.upgrade\.version/)
  assert.equal(odd.err.trim().split('\n').length, 1)
  const nowhere = await skerry(fleet, 'pull-images', '--image', 'a')
  assert.match(nowhere.err, /Cannot choose clusters: name them, or give --selector/)
  const dry = await skerry(
    fleet,
    'configure',
    'edge-cluster',
    'branch-7',
    '--site-metrics-api',
    'off',
    '--dry-run',
  )
  const { spec }: EdgeJob = JSON.parse(dry.out)
  assert.deepEqual(spec, {
    configure: { site: { metricsAPI: false } },
    clusters: { names: ['branch-7'] },
  })
  const { items } = await fleet.admin.resource(edgeJobResource).list({ namespace }, soon())
  assert.equal(items.length, 1)
})

test('a job is listed, shown, steered and followed to its end', async () => {
  await using fleet = await startCommandedHub()
  const made = await skerry(
    fleet,
    'pull-images',
    'branch-9',
    '--image',
    'a',
    '--job',
    'fill',
    '--wait',
  )
  assert.equal(made.code, 1)
  assert.match(made.err, /Cannot finish edge job fill: it has failed: .*no such EdgeCluster/)
  const listed = await skerry(fleet, 'edge-job', 'list')
  assert.match(listed.out, /fill +pull 1 images +Failed +0\/0/)
  const shown = await skerry(fleet, 'edge-job', 'get', 'fill')
  assert.match(shown.out, /branch-9 +- +- +Failed +there is no such EdgeCluster/)
  const log = await skerry(fleet, 'edge-job', 'logs', 'fill', '10.0.0.1')
  assert.match(log.err, /the job has no such machine/)
  const wrong = await skerry(fleet, 'edge-job', 'retry', 'fill', 'branch-8')
  assert.match(wrong.err, /the job has no cluster branch-8; it has branch-9/)
  const paused = await skerry(fleet, 'edge-job', 'pause', 'fill')
  assert.equal(paused.code, 0, paused.err)
  assert.equal((await jobNamed(fleet, 'fill')).spec.paused, true)
  assert.equal((await skerry(fleet, 'edge-job', 'resume', 'fill')).code, 0)
  for (const verb of ['retry', 'confirm', 'cancel']) {
    const { code, out, err } = await skerry(fleet, 'edge-job', verb, 'fill')
    assert.equal(code, 0, err)
    assert.match(out, /^The hub .*; see "skerry edge-job watch fill"/)
    await until(async () => {
      const { annotations = {} } = (await jobNamed(fleet, 'fill')).metadata
      return annotations[`hub.skerry.io/${verb}`] === undefined
    })
  }
  const gone = await skerry(fleet, 'edge-job', 'watch', 'none')
  assert.match(gone.err, /Cannot find edge job "none" in namespace "default"/)
})

test('a hub that runs from its sources lists no program', async () => {
  await using fleet = await startCommandedHub()
  const { out } = await skerry(fleet, 'edge-cluster', 'versions')
  assert.match(out, /The hub holds no program for machines: give it one with --machine-program/)
})
