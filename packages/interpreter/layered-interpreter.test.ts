import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { silentLogger, systemClock } from '@skerry/base'
import { createInterpreter, type Source } from './create-interpreter.ts'
import type { Customization } from './custom/customization.ts'
import { withUnknownHealth } from './unknown-health.ts'
import type { WebhookConfiguration } from './webhook/webhook-configuration.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web', generation: 2 },
  spec: { replicas: 2, template: {} },
  status: { observedGeneration: 1 },
}

function customization(healthInterpretation: string): Customization {
  return {
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name: 'web' },
    spec: {
      target: { apiVersion: 'apps/v1', kind: 'Deployment' },
      customizations: { healthInterpretation: { luaScript: healthInterpretation } },
    },
  }
}

/** A source whose objects a test changes. */
class Objects<T extends Customization | WebhookConfiguration> implements Source<T> {
  #objects: readonly T[] = []
  readonly #listeners: (() => void)[] = []

  list(): readonly T[] {
    return this.#objects
  }

  onChange(listener: Parameters<Source<T>['onChange']>[0]): Disposable {
    this.#listeners.push(() => listener({ type: 'deleted', object: {} as T }))
    return { [Symbol.dispose]() {} }
  }

  become(...objects: T[]): void {
    this.#objects = objects
    for (const listener of this.#listeners) listener()
  }
}

test('a customization comes before webhooks, and webhooks come before native rules', async () => {
  const customizations = new Objects<Customization>()
  const webhooks = new Objects<WebhookConfiguration>()
  const interpreter = createInterpreter({ customizations, webhooks }, systemClock)
  assert.equal(await interpreter.health(deployment, soon()), 'Unhealthy')
  webhooks.become({
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterWebhookConfiguration',
    metadata: { name: 'web' },
    webhooks: [
      {
        name: 'health',
        clientConfig: {},
        rules: [
          { operations: ['InterpretHealth'], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*'] },
        ],
        interpreterContextVersions: ['v1alpha1'],
      },
    ],
  })
  await assert.rejects(interpreter.health(deployment, soon()), /Cannot ask webhook "web\/health"/)
  customizations.become(customization('function InterpretHealth() return true end'))
  assert.equal(await interpreter.health(deployment, soon()), 'Healthy')
  customizations.become(customization('function InterpretHealth() return false end'))
  assert.equal(await interpreter.health(deployment, soon()), 'Unhealthy')
})

test('other questions about a customized kind have their native answers', async () => {
  const customizations = new Objects<Customization>()
  customizations.become(customization('function InterpretHealth() return true end'))
  const interpreter = createInterpreter({ customizations }, systemClock)
  assert.deepEqual(await interpreter.replicas(deployment, soon()), { replicas: 2 })
  const valve: AnyObject = { apiVersion: 'example.com/v1', kind: 'Valve', metadata: { name: 'a' } }
  assert.equal(interpreter.knows(valve, 'InterpretReplica'), false)
  assert.equal(await interpreter.replicas(valve, soon()), undefined)
})

test('a health that cannot be determined is unknown, and the reason is reported once', async () => {
  const customizations = new Objects<Customization>()
  customizations.become(customization('function InterpretHealth() error("broken") end'))
  const lines: string[] = []
  const log = { ...silentLogger, error: (line: string) => void lines.push(line) }
  const { health } = withUnknownHealth(createInterpreter({ customizations }, systemClock), log)
  assert.equal(await health(deployment, soon()), 'Unknown')
  assert.equal(await health(deployment, soon()), 'Unknown')
  assert.deepEqual(lines, ['Health is unknown'])
})
