import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds, type AnyObject, type Kind } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import { startTestApiServer } from '@skerry/testing'
import { karmadaKinds } from '../kinds/karmada-kinds.ts'
import { interpreterOf } from './create-interpreter.ts'
import { customizationResource, type Customization } from './custom/customization.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const signal = AbortSignal.timeout(60_000)

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web' },
  spec: { replicas: 1 },
  status: {},
}

const customization: Customization = {
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterCustomization',
  metadata: { name: 'web' },
  spec: {
    target: { apiVersion: 'apps/v1', kind: 'Deployment' },
    customizations: {
      healthInterpretation: { luaScript: 'function InterpretHealth() return true end' },
    },
  },
}

/** The interpreter of a control plane with these kinds, and its informers once they have synced. */
async function startInterpreter(kinds: readonly Kind[]) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startTestApiServer({ kinds: [...kinds] }))
  const hub = createCluster(server.transport, deps)
  const informers = createInformerSet(hub, deps)
  const interpreter = await interpreterOf({ ...deps, hub, informers }, signal)
  const stop = linkedSignal(signal)
  const running = runAll(stop.signal, [(scope) => informers.run(scope)])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  await informers.whenSynced(signal)
  const owned = stack.move()
  return { hub, informers, interpreter, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test('a control plane without interpreters leaves what is known anyway', async () => {
  const builtin = await builtinKinds()
  await using scene = await startInterpreter(builtin)
  assert.equal(await scene.interpreter.health(deployment, signal), 'Unhealthy')
})

test('a customization is in force as soon as it is seen, and no longer than it is there', async () => {
  const builtin = await builtinKinds()
  await using scene = await startInterpreter([...builtin, ...(await karmadaKinds(builtin))])
  const { interpreter, informers } = scene
  const customizations = informers.client(customizationResource)
  assert.equal(await interpreter.health(deployment, signal), 'Unhealthy')
  await customizations.create(customization, signal)
  assert.equal(await interpreter.health(deployment, signal), 'Healthy')
  await customizations.delete({ name: 'web' }, signal)
  assert.equal(await interpreter.health(deployment, signal), 'Unhealthy')
})
