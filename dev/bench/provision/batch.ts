import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createEventSink, resources, type ClusterClient } from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import { builtinKinds } from '@skerry/kinds'
import {
  departure,
  edgeClusterController,
  edgeClusterKind,
  edgeClusterResource,
  removal,
  sshShells,
  steps,
  type EdgeCluster,
  type HubSide,
} from '@skerry/provisioning'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { startSimulatedMachines } from './simulated-machines.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'bench' }
const key = { namespace: 'default', name: 'batch' }
const credentials = { name: 'ssh' }
const programBytes = 1_000_000

/**
 * Measures the seconds from the change that adds nodes to an edge cluster until it is Ready again. The machines are
 * simulated, so this is the time that the hub itself takes: logins, a program of one megabyte, and every step.
 */
export async function measureBatch(
  count: number,
  directory: string,
  signal: AbortSignal,
): Promise<number> {
  await using machines = await startSimulatedMachines()
  await using hub = await startController(machines.port, directory, signal)
  const edges = hub.api.resource(edgeClusterResource)
  const rules = { credentials, acceptNewHostKeys: true }
  const master = { addresses: ['10.1.0.1'], ...rules, role: 'Master' as const }
  const object = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', metadata: key }
  await edges.create({ ...object, spec: { machines: [master] } }, signal)
  await untilReady(hub.api, 1, signal)
  const startMs = performance.now()
  const nodes = { addresses: [`10.1.1.[1-${count}]`], ...rules }
  const patch = { spec: { machines: [master, nodes] } }
  await edges.patch({ ...key, type: 'merge', patch }, signal)
  await untilReady(hub.api, count + 1, signal)
  return (performance.now() - startMs) / 1_000
}

async function untilReady(api: ClusterClient, count: number, signal: AbortSignal): Promise<void> {
  const isReady = (edge: EdgeCluster | undefined): boolean => {
    const { phase, machines = [], steps: known = [] } = edge?.status ?? {}
    const failed = known.find(({ state }) => state === 'Failed')
    if (failed) throw new Error(`Cannot measure: ${failed.name} failed: ${failed.message ?? ''}`)
    return phase === 'Ready' && machines.length === count
  }
  await untilObject(api, { resource: edgeClusterResource, key }, isReady, signal)
}

async function startController(
  port: number,
  directory: string,
  signal: AbortSignal,
): Promise<{ readonly api: ClusterClient } & AsyncDisposable> {
  const kinds = await builtinKinds()
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startTestApiServer({ kinds: [...kinds, edgeClusterKind(kinds)] }))
  const api = createCluster(server.transport, deps)
  const metadata = { ...key, name: credentials.name }
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    data: { password: btoa('password') },
  }
  await api.resource(resources.secrets).create(secret, signal)
  const informers = createInformerSet(api, deps)
  const events = createEventSink(api, deps)
  const stop = linkedSignal(signal)
  const open = sshShells({ clock: systemClock })
  const definition = edgeClusterController({
    steps,
    departure,
    removal,
    hub: await simulatedHub(directory),
    openShell: (request, at) =>
      // The user's name becomes the machine's own.
      open({ ...request, ip: '127.0.0.1', login: loginOn(request, port) }, at),
  })
  const running = runAll(stop.signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    (scope) => runController(definition, { ...deps, cluster: api, informers, events }, scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the benchmark is over'))
    await running
  })
  const owned = stack.move()
  return { api, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function loginOn({ address, login }: Parameters<ReturnType<typeof sshShells>>[0], port: number) {
  return { ...login, port, user: `host-${address.replaceAll('.', '-')}` }
}

/** Returns a hub that gives a program of one megabyte, and says yes to everything else. */
export async function simulatedHub(directory: string): Promise<HubSide> {
  const from = join(directory, 'program')
  await writeFile(from, randomBytes(programBytes))
  const none = async (): Promise<never> => {
    throw new Error('Cannot measure: a step asks for what this hub has not')
  }
  const done = async (): Promise<void> => undefined
  return {
    server: () => 'https://192.0.2.1:7443',
    claim: done,
    createToken: async () => ({
      token: 'abcdef.0123456789abcdef',
      caHash: `sha256:${'0'.repeat(64)}`,
    }),
    isReady: async () => true,
    forget: done,
    removeLogins: done,
    read: none,
    dial: none,
    recordProgram: done,
    recordConfiguration: none,
    imports: { keepJoin: none, endJoin: none, state: none, removeAgent: none },
    package: none,
    program: async () => ({
      version: 'simulated',
      files: [{ from, to: 'skerry', mode: 0o755 }],
      launcher: () => '#!/bin/sh\n',
    }),
  }
}
