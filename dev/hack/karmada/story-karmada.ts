import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type ClusterClient,
  type HttpsTransportConfig,
  type ResourceRef,
} from '@skerry/client'
import { spkiHash } from '@skerry/pki'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada, karmadaPrograms } from '../upstream/karmada-build.ts'
import { startKarmada } from '../upstream/karmada-run.ts'
import type { ControlPlane } from './fleet-agents.ts'
import { untilFound } from './until-found.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }

export interface StoryKarmada extends ControlPlane, AsyncDisposable {
  readonly url: string
  /** The transport of its administrator. */
  readonly transport: HttpsTransportConfig
  /** The hash of its authority, as agents receive it. */
  readonly caHash: string
  /** Returns the output of `karmadactl token create`. */
  readonly createToken: () => string
}

/** The real Karmada on loopback, without what no story here asks. */
export async function startStoryKarmada(): Promise<StoryKarmada> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-karmada-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const upstream = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const
  const bin = await buildKarmada(karmadaPrograms.filter((each) => each !== 'karmada-search'))
  const upstreamBin = await buildUpstream([...upstream])
  const started = { upstreamBin, bin, directory, bindAddress: '127.0.0.1', withSearch: false }
  const { kubeconfigPath, url } = stack.use(await startKarmada(started))
  const { transport } = await loadKubeconfig(kubeconfigPath, {}, { ...deps, environment: {} })
  const hub = createCluster(stack.use(createHttpsTransport(transport, deps)), deps)
  const owned = stack.move()
  return {
    hub,
    kubeconfigPath,
    directory,
    url,
    transport,
    caHash: spkiHash(transport.certificateAuthority ?? ''),
    createToken: () =>
      execFileSync(join(bin, 'karmadactl'), ['token', 'create', '--kubeconfig', kubeconfigPath], {
        encoding: 'utf8',
      }).trim(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Waits until Karmada's garbage collector has deleted what a binding owned. */
export async function untilNoRights(
  hub: ClusterClient,
  prefix: string,
  signal: AbortSignal,
): Promise<void> {
  const rights: ResourceRef[] = [
    resources.clusterRoles,
    resources.clusterRoleBindings,
    resources.roles,
    resources.roleBindings,
  ]
  for (const resource of rights) {
    await untilFound(
      () => hub.resource(resource).list({}, signal),
      ({ items }) => !items.some(({ metadata }) => metadata.name?.startsWith(prefix)),
      signal,
    )
  }
}
