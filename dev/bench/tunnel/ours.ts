import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '@skerry/base'
import { loadKubeconfig } from '@skerry/client'
import { stringify } from 'yaml'
import { engineFlags } from '../../../roles/runtime/engine-flags.ts'
import { freePort } from '../../processes/free-port.ts'
import { launcherEnvironment } from '../../processes/launcher-environment.ts'
import type { Entry } from './connection.ts'
import { pidsOf, untilAnswered, type Processes, type Site, type Subject } from './subject.ts'

const execute = promisify(execFile)

/**
 * Starts hub and agent as users run them, with authentication, authorization and audit. The target stands in
 * for the cluster's API server; the agent's own requests to it are answered with 404.
 */
export async function startOurs(site: Site, processes: Processes): Promise<Subject> {
  const { directory, cloudAddress, edge } = site
  const hubData = join(directory, 'hub')
  const agentData = join(directory, 'agent')
  await mkdir(hubData, { recursive: true, mode: 0o700 })
  await mkdir(agentData, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const server = `https://${cloudAddress}:${port}`
  // The hub's own commands reach it over loopback, agents at the cloud's address.
  const where = ['--data-dir', hubData, '--port', String(port)]
  const hub = await processes.start(
    'hub',
    roleCommand(site, 'hub', where),
    await launcherEnvironment('hub'),
  )
  const entry = await hubEntry(hubData, { host: cloudAddress, port })
  await untilAnswered({ ...entry, prefix: '/readyz?' })
  const { token, caHash } = await joinCommand(site, { hubData, server })
  const tokenFile = join(directory, 'agent.token')
  await writeFile(tokenFile, token, { mode: 0o600 })
  const kubeconfig = await writeTargetKubeconfig(site)
  const registering = ['--hub', server, '--name', 'edge', '--token-file', tokenFile]
  const own = ['--ca-hash', caHash, '--kubeconfig', kubeconfig, '--data-dir', agentData]
  const command = roleCommand(site, 'agent', [...registering, ...own])
  const agent = await processes.start(
    'agent',
    [...edge, ...command],
    await launcherEnvironment('agent'),
  )
  return { entry, ...pidsOf({ cloud: hub, edge: agent }) }
}

function roleCommand({ program }: Site, role: string, args: readonly string[]): string[] {
  const nodeFlags = ['--disable-warning=ExperimentalWarning', ...(engineFlags[role] ?? [])]
  return [process.execPath, ...nodeFlags, program, role, ...args]
}

async function hubEntry(hubData: string, to: { host: string; port: number }): Promise<Entry> {
  const path = join(hubData, 'admin.kubeconfig')
  const endMs = performance.now() + 60_000
  for (;;) {
    const isThere = await readFile(path, 'utf8').then(
      (text) => text !== '',
      () => false,
    )
    if (isThere) break
    if (performance.now() > endMs) throw new Error(`Cannot measure: the hub wrote no ${path}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { transport } = await loadKubeconfig(path, {}, { clock: systemClock, environment: {} })
  const credentials = (await transport.credentials?.(AbortSignal.timeout(10_000))) ?? {}
  return {
    to,
    prefix: '/clusters/edge',
    ca: transport.certificateAuthority ?? '',
    ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate }),
    ...(credentials.key === undefined ? {} : { key: credentials.key }),
  }
}

async function joinCommand(
  { program }: Site,
  { hubData, server }: { hubData: string; server: string },
): Promise<{ token: string; caHash: string }> {
  const args = ['cluster', 'join-command', 'edge', '--data-dir', hubData, '--server', server]
  const { stdout } = await execute(process.execPath, [program, ...args, '-o', 'json'])
  // The program `cluster join-command -o json` prints this type.
  return JSON.parse(stdout) as { token: string; caHash: string }
}

async function writeTargetKubeconfig({ directory, targetPort }: Site): Promise<string> {
  const path = join(directory, 'target.kubeconfig')
  const server = `https://127.0.0.1:${targetPort}`
  const cluster = { server, 'certificate-authority': join(directory, 'ca.crt') }
  const text = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'target', cluster }],
    users: [{ name: 'agent', user: { token: 'bench' } }],
    contexts: [{ name: 'target', context: { cluster: 'target', user: 'agent' } }],
    'current-context': 'target',
  })
  await writeFile(path, text, { mode: 0o600 })
  return path
}
