import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import type { AnyObject, Kind } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createEventSink, resources, type Transport } from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import { startTestApiServer } from '@skerry/testing'
import { karmadaKinds } from '@skerry/karmada-kinds'
import { interpreterOf } from './create-interpreter.ts'
import { customizationResource, type Customization } from './custom/customization.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

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

/** Starts the interpreter of a control plane with these kinds, and its informers. */
async function startInterpreter(
  kinds: readonly Kind[],
  through = (transport: Transport): Transport => transport,
) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startTestApiServer({ kinds: [...kinds] }))
  const hub = createCluster(through(server.transport), deps)
  // Failures are retried almost at once.
  const sleep = async (_ms: number, scope: AbortSignal) => {
    await nextTurn()
    scope.throwIfAborted()
  }
  const clock = { ...systemClock, sleep }
  const informers = createInformerSet(hub, { ...deps, clock })
  const events = createEventSink(hub, deps)
  const interpreter = await interpreterOf({ ...deps, hub, informers, events }, soon())
  const stop = linkedSignal(soon())
  const running = runAll(stop.signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const owned = stack.move()
  return { hub, informers, interpreter, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test('a control plane without interpreters keeps its built-in answers', async () => {
  const builtin = await builtinKinds()
  await using scene = await startInterpreter(builtin)
  assert.equal(await scene.interpreter.health(deployment, soon()), 'Unhealthy')
})

test('a customization is in force as soon as it is seen, and no longer than it exists', async () => {
  const builtin = await builtinKinds()
  await using scene = await startInterpreter([...builtin, ...(await karmadaKinds(builtin))])
  const { interpreter, informers } = scene
  await informers.whenSynced(soon())
  const customizations = informers.client(customizationResource)
  assert.equal(await interpreter.health(deployment, soon()), 'Unhealthy')
  await customizations.create(customization, soon())
  assert.equal(await interpreter.health(deployment, soon()), 'Healthy')
  await customizations.delete({ name: 'web' }, soon())
  assert.equal(await interpreter.health(deployment, soon()), 'Unhealthy')
})

test('a customization that is suspended is named in an event', async () => {
  const builtin = await builtinKinds()
  await using scene = await startInterpreter([...builtin, ...(await karmadaKinds(builtin))])
  const { hub, interpreter, informers } = scene
  await informers.whenSynced(soon())
  const luaScript = 'function InterpretHealth() while true do end end'
  const customizations = { healthInterpretation: { luaScript } }
  const endless = { ...customization, spec: { ...customization.spec, customizations } }
  await informers.client(customizationResource).create(endless, soon())
  assert.equal(await interpreter.health(deployment, soon()), 'Unknown')
  const request = { namespace: 'default' }
  const { items, metadata } = await hub.resource(resources.events).list(request, soon())
  const { resourceVersion = '' } = metadata
  const watched = hub.resource(resources.events).watch({ ...request, resourceVersion }, soon())
  let [found] = items
  if (found === undefined) {
    for await (const event of watched) {
      if (event.type === 'BOOKMARK') continue
      found = event.object
      break
    }
  }
  assert.ok(found)
  assert.equal(found.reason, 'CustomizationSuspended')
  assert.equal(found.involvedObject.name, 'web')
  assert.match(found.message ?? '', /Deployment are suspended for 10 s: it took too much$/)
})

test('existing customizations are in force from the first question on, before anything is followed', async () => {
  const builtin = await builtinKinds()
  const kinds = [...builtin, ...(await karmadaKinds(builtin))]
  await using server = await startTestApiServer({ kinds })
  const hub = createCluster(server.transport, deps)
  await hub.resource(customizationResource).create(customization, soon())
  const informers = createInformerSet(hub, deps)
  const interpreter = await interpreterOf({ ...deps, hub, informers }, soon())
  assert.equal(await interpreter.health(deployment, soon()), 'Healthy')
  // A customization that is deleted before the informers start does not stay in force.
  await hub.resource(customizationResource).delete({ name: 'web' }, soon())
  using stop = linkedSignal(soon())
  const running = runAll(stop.signal, [(scope) => informers.run(scope)])
  await informers.whenSynced(soon())
  assert.equal(await interpreter.health(deployment, soon()), 'Unhealthy')
  stop.abort(new Error('the test is over'))
  await running
})

/** The first reads of customizations are answered so, and everything else by the server. */
function refusingFirst({ code, reason, reads }: { code: number; reason: string; reads: number }) {
  const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', reason, code }
  let left = reads
  return (transport: Transport): Transport => ({
    async send(request, scope) {
      const isRead =
        request.method === 'GET' && request.path.includes(customizationResource.resource)
      if (!isRead || left === 0) return transport.send(request, scope)
      left -= 1
      const headers = { 'content-type': 'application/json' }
      return { status: code, headers, body: Readable.from([Buffer.from(JSON.stringify(status))]) }
    },
  })
}

for (const [code, reason] of [
  [403, 'Forbidden'],
  [404, 'NotFound'],
] as const) {
  test(`customizations that were unavailable at the start (${reason}) come into force later`, async () => {
    const builtin = await builtinKinds()
    const kinds = [...builtin, ...(await karmadaKinds(builtin))]
    const refusing = refusingFirst({ code, reason, reads: 3 })
    await using scene = await startInterpreter(kinds, refusing)
    const { interpreter, informers } = scene
    await informers.whenSynced(soon())
    await informers.client(customizationResource).create(customization, soon())
    assert.equal(await interpreter.health(deployment, soon()), 'Healthy')
  })
}
