import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeJobOf, emptyJob, heldVersions, jobFaults } from './job-form.ts'

const specOf = (form: object) => edgeJobOf({ ...emptyJob, ...form })['spec']

test('each kind of work becomes the one field that a job may have', () => {
  const upgrade = {
    version: '0.2.0',
    images: 'a:1',
    pullSecret: 'reg',
    names: 'branch-7, branch-8',
  }
  assert.deepEqual(specOf(upgrade), {
    upgrade: { version: '0.2.0', images: ['a:1'], secretRef: { name: 'reg' } },
    clusters: { names: ['branch-7', 'branch-8'] },
    requireConfirmation: true,
  })
  const configure = {
    work: 'configure',
    nodeLogLevel: 'debug',
    metricsAPI: 'off',
    labels: 'tier=shop',
  }
  assert.deepEqual(specOf({ ...configure, requiresConfirmation: false }), {
    configure: { site: { metricsAPI: false }, node: { logLevel: 'debug' } },
    clusters: { labelSelector: { matchLabels: { tier: 'shop' } } },
  })
  const pull = { work: 'pullImages', images: 'a:1 b:2', role: 'Node', failureTolerance: '5%' }
  assert.deepEqual(specOf({ ...pull, clustersAtOnce: '10', requiresConfirmation: false }), {
    pullImages: { images: ['a:1', 'b:2'] },
    clusters: {},
    machines: { role: 'Node' },
    clustersAtOnce: 10,
    failureTolerance: '5%',
  })
  assert.deepEqual(edgeJobOf(emptyJob)['metadata'], {
    namespace: 'default',
    generateName: 'upgrade-',
  })
})

test('the hub’s faults stand at the field that is nearest', () => {
  const fault = (field: string) => ({ field, message: field, reason: '' })
  const found = jobFaults(
    [
      'spec.upgrade.version',
      'spec.upgrade.images[0]',
      'spec.clusters.labelSelector.matchLabels',
      'spec.clusters',
      'spec.machinesAtOnce',
      'spec.timeoutSeconds',
    ].map(fault),
  )
  assert.deepEqual(Object.fromEntries(found), {
    version: 'spec.upgrade.version',
    images: 'spec.upgrade.images[0]',
    labels: 'spec.clusters.labelSelector.matchLabels',
    names: 'spec.clusters',
    machinesAtOnce: 'spec.machinesAtOnce',
    '': 'spec.timeoutSeconds',
  })
})

test('the versions that the hub holds are listed once, the newest first', () => {
  const list = [{ version: '0.9.0' }, { version: '0.10.0' }, { version: '0.9.0' }, null, { a: 1 }]
  assert.deepEqual(heldVersions(JSON.stringify(list)), ['0.10.0', '0.9.0'])
  assert.deepEqual(heldVersions('not a list'), [])
})
