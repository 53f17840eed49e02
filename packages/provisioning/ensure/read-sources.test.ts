import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepError } from '../contract/step.ts'
import { stepScene, type SceneOptions } from '../testing/step-scene.ts'
import { hasSources, readSources } from './read-sources.ts'

const spec: SceneOptions['spec'] = {
  files: [{ from: { secret: 'ca', key: 'ca.crt' }, path: '/etc/ca.crt' }],
  hooks: [{ when: 'AfterInstall', configMap: 'hooks', key: 'run' }],
  addons: [{ configMap: 'shop', key: 'a.yaml' }],
  proxy: { httpProxy: 'http://proxy.example', credentials: { name: 'proxy' } },
}
const values = {
  'Secret ca/ca.crt': 'x',
  'ConfigMap hooks/run': 'x',
  'ConfigMap shop/a.yaml': 'x',
  'Secret proxy/username': 'x',
  'Secret proxy/password': 'x',
}

test('Secrets and ConfigMaps that are there are counted', async () => {
  assert.equal(await readSources(stepScene({ spec, values }).context), '5 keys')
  assert.equal(hasSources(stepScene({ spec }).context.edge), true)
  assert.equal(hasSources(stepScene().context.edge), false)
})

test('every missing key is named with its field before a machine is asked', async () => {
  const { 'Secret ca/ca.crt': _, 'Secret proxy/password': __, ...rest } = values
  const { context, shell } = stepScene({ spec, values: rest })
  await assert.rejects(readSources(context), (error) => {
    assert.ok(error instanceof StepError && error.isFinal)
    assert.deepEqual(error.findings, [
      'spec.files[0].from: Secret ca has no key ca.crt',
      'spec.proxy.credentials: Secret proxy has no key password',
    ])
    return true
  })
  assert.deepEqual(shell.commands, [])
})

test('if the hub cannot read at the moment, the object is not blamed', async () => {
  const { context } = stepScene({ spec })
  const read = async (): Promise<never> => {
    throw new Error('the store is away')
  }
  const away = { ...context, hub: { ...context.hub, read } }
  await assert.rejects(readSources(away), (error) => !(error instanceof StepError))
})
