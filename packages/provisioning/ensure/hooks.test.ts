import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepScene } from '../testing/step-scene.ts'
import { copyFiles, runHooks } from './hooks.ts'

const files = [{ from: { secret: 'shop', key: 'env' }, path: '/etc/shop/env' }]
const hooks = [{ when: 'AfterInstall' as const, configMap: 'scripts', key: 'go' }]
const env = [
  'PASSWORD=hunter2-of-shop',
  "export TOKEN='token-of-shop'",
  '  "key": "key-of-the-shop",',
  'url: https://user:pass@example',
  'LEVEL=info',
  'a line alone',
].join('\n')
const values = { 'Secret shop/env': env, 'ConfigMap scripts/go': '#!/bin/sh\n' }

for (const [what, act] of [
  ['copied', copyFiles],
  ['there when a script runs', runHooks('AfterInstall')],
] as const) {
  test(`lines and values of a secret file that is ${what} are printed nowhere`, async () => {
    const { context, concealed } = stepScene({ spec: { files, hooks }, values })
    await act(context)
    for (const secret of [
      ...env.split('\n'),
      'hunter2-of-shop',
      'token-of-shop',
      'key-of-the-shop',
      'https://user:pass@example',
    ]) {
      assert.ok(concealed.includes(secret), secret)
    }
    // Half of every log would be withheld.
    assert.ok(!concealed.includes('info'))
  })
}
