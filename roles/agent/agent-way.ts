import { ExpectedError, exitCodes, systemClock, type LogLevel } from '@skerry/base'
import { runRole } from '../runtime/role-context.ts'
import type { TracingFlags } from '../runtime/tracing-options.ts'
import type { WayFlags } from '../runtime/way-options.ts'
import { connectBy } from '../runtime/way-to-hub.ts'
import type { AgentPodOptions } from './agent-pod.ts'
import type { KarmadaAgentOptions } from './karmada-agent.ts'
import { findLocalApi } from './local-api.ts'

export interface AgentWayFlags extends WayFlags, TracingFlags {
  hub: string | undefined
  karmada: string | undefined
  karmadaKubeconfig: string | undefined
  kubeconfig: string | undefined
  context: string | undefined
  allowService: readonly unknown[]
  allowDial: readonly unknown[]
  allowDialDir: string | undefined
  logLevel: LogLevel
}

/** The options that a command makes of its words; the cluster and the way to the hub follow from its flags. */
type OwnOptions = Omit<AgentPodOptions, 'api' | 'connect'>

/** Runs an agent of a hub, or one of Karmada's, until a signal stops it. Throws ExpectedError for ambiguous flags. */
export async function startAgent(flags: AgentWayFlags, options: OwnOptions): Promise<void> {
  const karmada = await karmadaOf(flags)
  if (karmada) return runAsKarmadas(karmada, flags, options)
  const { runAgentPod } = await import('./agent-pod.ts')
  const api = await findLocalApi(flags)
  await runRole(
    'agent',
    flags.logLevel,
    async (context) => {
      const way = await connectBy({ ...flags, hub: options.hub }, context)
      await runAgentPod({ ...options, api, ...way }, context)
    },
    flags,
  )
}

/** Returns how the agent reaches Karmada, or undefined for a hub's agent. */
async function karmadaOf(
  flags: AgentWayFlags,
): Promise<KarmadaAgentOptions['karmada'] | undefined> {
  const { hub, karmada: server, karmadaKubeconfig: path, inspectedTls } = flags
  const given = [hub, server, path].filter((each) => each !== undefined)
  if (given.length !== 1) {
    throw usage('pass one of --hub, --karmada and --karmada-kubeconfig')
  }
  if (hub !== undefined) return undefined
  const dials = flags.allowDial.length > 0 || flags.allowDialDir !== undefined
  if (flags.allowService.length > 0 || dials || inspectedTls === true) {
    throw usage(
      'Karmada has no tunnel, so --allow-service, --allow-dial and --inspected-tls have no effect there',
    )
  }
  if (server !== undefined) {
    const url = URL.canParse(server) ? new URL(server) : undefined
    if (url?.protocol === 'https:') return { server: url.origin }
    throw usage('--karmada is https://<host>:<port>')
  }
  const { loadKubeconfig } = await import('@skerry/client')
  const environment = { clock: systemClock, environment: process.env }
  return { transport: (await loadKubeconfig(path ?? '', {}, environment)).transport }
}

async function runAsKarmadas(
  karmada: KarmadaAgentOptions['karmada'],
  flags: AgentWayFlags,
  options: OwnOptions,
): Promise<void> {
  const { runKarmadaAgent } = await import('./karmada-agent.ts')
  const api = await findLocalApi(flags)
  await runRole(
    'agent',
    flags.logLevel,
    async (context) => {
      const way =
        'server' in karmada ? await connectBy({ ...flags, hub: karmada.server }, context) : {}
      await runKarmadaAgent({ ...options, api, karmada, ...way }, context)
    },
    flags,
  )
}

function usage(why: string): ExpectedError {
  return new ExpectedError(`Cannot run agent: ${why}`, exitCodes.usage)
}
