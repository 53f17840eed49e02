import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepError, type HubSide } from '../contract/step.ts'
import { fakePackage } from '../testing/fake-machine.ts'
import { stepScene } from '../testing/step-scene.ts'
import { lookAtPackage } from './package-findings.ts'
import { parseFacts } from './preflight-facts.ts'

const facts = parseFacts('os debian 12\narchitecture x86_64\n')
const asked = { digest: `sha256:${'0'.repeat(64)}`, publicKey: 'key' }

test('a package that the hub has not, or not for this machine, is a finding', async () => {
  const { context } = stepScene({ spec: { package: asked } })
  const seen: unknown[] = []
  const hub: HubSide = {
    ...context.hub,
    async package(source, machine) {
      seen.push([source, machine])
      throw new StepError('the hub has no package')
    },
  }
  assert.deepEqual(await lookAtPackage(facts, { ...context, hub }), {
    findings: ['the hub has no package'],
  })
  assert.deepEqual(seen, [[asked, { release: 'debian-12', architecture: 'x86_64' }]])
})

test('a package brings an etcd or does not', async () => {
  const { context } = stepScene({ spec: { package: asked } })
  for (const more of [{}, { etcd: [] }]) {
    const found = { ...fakePackage('0.1.0', '0'.repeat(64)), ...more }
    const hub: HubSide = { ...context.hub, package: async () => found }
    const seen = await lookAtPackage(facts, { ...context, hub })
    assert.deepEqual(seen, { findings: [], hasEtcd: 'etcd' in more })
  }
})

test('an object without a package asks the hub for none', async () => {
  const { context } = stepScene()
  assert.deepEqual(await lookAtPackage(facts, context), { findings: [] })
})
