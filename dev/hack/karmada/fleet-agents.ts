import { join } from 'node:path'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, type ClusterClient } from '@skerry/client'
import { EdgeObserver, runClusterReporter, runWorks } from '@skerry/cluster-agent'
import type { TestApiServer } from '@skerry/testing'
import { buildKarmada } from '../upstream/karmada-build.ts'
import { argumentsOf, programIn, runProgram } from '../upstream/run-program.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }

export interface ControlPlane {
  readonly hub: ClusterClient
  /** The kubeconfig of its administrator. */
  readonly kubeconfigPath: string
  /** The directory of logs. */
  readonly directory: string
}

export interface StorySite {
  readonly name: string
  readonly server: TestApiServer
  readonly local: ClusterClient
}

/** Starts what pulls a site's Works; it stops when it is disposed of. */
export type StartAgent = (
  site: StorySite,
  plane: ControlPlane,
  signal: AbortSignal,
) => Promise<AsyncDisposable>

export function storySite(name: string, server: TestApiServer): StorySite {
  return { name, server, local: createCluster(server.transport, deps) }
}

export const startOurAgent: StartAgent = async ({ name, local }, { hub }, signal) => {
  const stop = linkedSignal(signal)
  const observer = new EdgeObserver({ ...deps, local })
  const running = runAll(stop.signal, [
    (scope) => observer.run(scope),
    (scope) => runClusterReporter({ name }, { ...deps, hub, observer }, scope),
    (scope) => runWorks({ clusterName: name }, { ...deps, hub, local }, scope),
  ])
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the story is over'))
      await running
    },
  }
}

export const startKarmadaAgent: StartAgent = async ({ name, server }, plane) => {
  const { path } = programIn(await buildKarmada(['karmada-agent']), '', 'karmada-agent')
  return runProgram({
    path,
    args: argumentsOf({
      'cluster-name': name,
      'karmada-kubeconfig': plane.kubeconfigPath,
      'report-secrets': 'None',
      'leader-elect': 'false',
      'metrics-bind-address': '0',
      'health-probe-bind-address': '0',
    }),
    logPath: join(plane.directory, `karmada-agent-${name}.log`),
    environment: { KUBECONFIG: server.kubeconfigPath },
  })
}
