import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepError } from '../contract/step.ts'
import { stepScene, type SceneOptions } from '../testing/step-scene.ts'
import { applyAddOns, hasAddOns } from './add-ons.ts'

const scene: SceneOptions = {
  spec: { addons: [{ configMap: 'shop', key: 'a.yaml' }] },
  values: { 'ConfigMap shop/a.yaml': 'kind: Secret\ndata: {x: y}\n' },
}
const applied = '2 objects are applied, 0 were removed\n'

test('manifests reach the master as a file for root, which is removed again', async () => {
  let text = ''
  const { context, shell } = stepScene({
    ...scene,
    answer(command, files) {
      if (!command.includes('apply')) return undefined
      text = files.get('/etc/skerry/add-ons.json') ?? ''
      return { stdout: `applied Secret a\n${applied}` }
    },
  })
  assert.equal(await applyAddOns(context), applied.trim())
  assert.deepEqual(JSON.parse(text), [
    { name: 'spec.addons[0] (shop/a.yaml)', text: 'kind: Secret\ndata: {x: y}\n' },
  ])
  assert.equal(shell.modes.get('/etc/skerry/add-ons.json'), 0o600)
  assert.equal(shell.files.has('/etc/skerry/add-ons.json'), false)
})

const failures: readonly [exitCode: number, isFinal: boolean][] = [
  [2, true],
  [1, false],
  [9, false],
]
for (const [exitCode, isFinal] of failures) {
  test(`the exit code ${exitCode} ${isFinal ? 'ends the step' : 'lets it be tried again'}, with the reason`, async () => {
    const stderr = 'skerry: Cannot apply spec.addons[0] (shop/a.yaml), document 1: line 3\n'
    const answer = ([, , verb]: readonly string[]) =>
      verb === 'apply' ? { exitCode, stderr } : undefined
    const { context } = stepScene({ ...scene, answer })
    await assert.rejects(applyAddOns(context), (error) => {
      assert.ok(error instanceof StepError)
      assert.equal(error.isFinal, isFinal)
      assert.match(
        error.message,
        /^Cannot apply spec\.addons\[0\] \(shop\/a\.yaml\), document 1: line 3$/,
      )
      return true
    })
  })
}

test('manifests beyond the bound are refused before anything is sent', async () => {
  const values = { 'ConfigMap shop/a.yaml': 'x'.repeat(4 * 1024 * 1024 + 1) }
  const { context, shell } = stepScene({ ...scene, values })
  await assert.rejects(applyAddOns(context), /spec\.addons: all manifests together/)
  assert.deepEqual([shell.commands, shell.files.size], [[], 0])
})

test('a cluster whose last add-on was taken away still removes its objects', () => {
  const status = { steps: [{ name: 'ApplyAddOns', machine: '10.0.0.11', state: 'Done' as const }] }
  assert.equal(hasAddOns(stepScene({ status }).context.edge), true)
  assert.equal(hasAddOns(stepScene().context.edge), false)
})
