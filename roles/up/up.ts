import { spawn } from 'node:child_process'
import { open, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import {
  ExpectedError,
  createLogger,
  exitCodes,
  keepLogBounded,
  makeDirectoryDurably,
  messageOf,
  runAll,
  systemClock,
  systemRandom,
  type LogLevel,
} from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { resources, type ClusterClient } from '@skerry/client'
import { openAdminCluster, type AdminCluster } from '../admin/admin-cluster.ts'
import { consoleAddress, makeConsoleLink } from '../admin/console-link.ts'
import { createClusterToken } from '../admin/hub-join-token.ts'
import { createJoinToken } from '../admin/join-token.ts'
import { openDataDirectory, writeFileDurably } from '../runtime/data-directory.ts'
import { engineFlags } from '../runtime/engine-flags.ts'
import { lockHolder, takeLock } from '../runtime/lock-file.ts'
import { programCommand } from '../runtime/program-command.ts'
import { superviseRole, type ChildRole } from './child-role.ts'
import { installationAt, type Installation, type UpSettings } from './installation.ts'
import { createProgress, type Progress } from './progress.ts'
import { findMissingPrograms, installPrograms, packagesOf } from './system-packages.ts'
import { writeUserKubeconfig } from './user-kubeconfig.ts'
import { upBounds } from './limits-table.ts'

export interface UpOptions extends UpSettings {
  dataDir: string
  isDetached: boolean
  /** Installs nothing, and only reports what is missing. */
  skipsInstall: boolean
  logLevel: LogLevel
}

const { readyMsMax, nodeReadyMsMax } = upBounds.up

/** Runs hub, site and node on this machine, and the tunnel between them, until the signal aborts. */
export async function runUp(options: UpOptions, signal: AbortSignal): Promise<void> {
  requireRoot()
  const installation = installationAt(options.dataDir, options.runDir)
  await refuseHalfReset(installation)
  await openDataDirectory(options.dataDir)
  if (options.isDetached) return detach(options, installation)
  await using _lock = await takeLock(installation.lockFile, alreadyRunning)
  const progress = createProgress({
    write: (text) => process.stdout.write(text),
    isTerminal: process.stdout.isTTY,
    columns: process.stdout.columns,
  })
  await ensurePackages(options, progress, signal)
  await requirePorts(options)
  await makeDirectoryDurably(join(options.dataDir, 'log'))
  await writeFileDurably(installation.settingsFile, JSON.stringify(settingsOf(options)))
  await runAll(signal, [(scope) => startRoles({ options, installation, progress }, scope)])
}

function requireRoot(): void {
  if (process.getuid?.() === 0) return
  throw new ExpectedError(
    'Cannot start: containers and network rules need root; run it with sudo',
    exitCodes.missingRight,
  )
}

function alreadyRunning(holder: number): ExpectedError {
  return new ExpectedError(
    `Cannot start: skerry is already running as process ${holder}; see "skerry status", or stop it with "skerry down"`,
    exitCodes.alreadyRunning,
  )
}

/** Refuses the remains of an installation: a role would take them for a damaged one, or start empty. */
async function refuseHalfReset({ dataDir, resetMark }: Installation): Promise<void> {
  if ((await readFileIfPresent(resetMark)) === undefined) return
  throw new ExpectedError(
    `Cannot start: a reset of ${dataDir} did not come to its end; run "skerry reset --yes" again first`,
    exitCodes.dataDirectory,
  )
}

function settingsOf(options: UpOptions): UpSettings {
  const {
    clusterName,
    hubPort,
    sitePort,
    kubeletPort,
    nodeName,
    clusterCidr,
    serviceCidr,
    runDir,
  } = options
  return { clusterName, hubPort, sitePort, kubeletPort, nodeName, clusterCidr, serviceCidr, runDir }
}

async function ensurePackages(
  options: UpOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const missing = await findMissingPrograms(['node'])
  if (missing.length === 0) return
  const packages = packagesOf(missing)
  if (options.skipsInstall) {
    throw new ExpectedError(
      `Cannot start: system packages are missing; run "apt-get install ${packages.join(' ')}"`,
      exitCodes.missingDependency,
    )
  }
  await progress.step('System packages', async (tell) => {
    tell(`installing ${packages.join(', ')}`)
    await installPrograms(missing, signal)
  })
}

/** Checks ports before anything is started, so that the message names the port and not a role. */
async function requirePorts({ hubPort, sitePort, kubeletPort }: UpOptions): Promise<void> {
  const ports: readonly [string, number][] = [
    ['--hub-port', hubPort],
    ['--site-port', sitePort],
    ['--kubelet-port', kubeletPort],
  ]
  for (const [flag, port] of ports) {
    await new Promise<void>((resolve, reject) => {
      const probe = createServer()
      probe.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'EADDRINUSE'
            ? new ExpectedError(
                `Cannot listen on port ${port}: it is taken by another program; free it, or pass another with ${flag}`,
                exitCodes.portTaken,
              )
            : error,
        ),
      )
      probe.listen(port, '0.0.0.0', () => probe.close(() => resolve()))
    })
  }
}

interface UpScope {
  options: UpOptions
  installation: Installation
  progress: Progress
}

async function startRoles(scope: UpScope, signal: AbortSignal): Promise<void> {
  const { options, installation, progress } = scope
  const started = performance.now()
  const startedMs = systemClock.now()
  const roles: ChildRole[] = []
  const start = (role: string, args: readonly string[]): ChildRole => {
    const child = startRole(scope, { role, args }, signal)
    roles.push(child)
    return child
  }
  try {
    const hub = start('hub', ['--data-dir', installation.hubDir, '--port', String(options.hubPort)])
    await progress.step('Hub', (tell) =>
      untilReady(hub, tell, `https://127.0.0.1:${options.hubPort}`),
    )
    const hubAdmin = await openAdminCluster(join(installation.hubDir, 'admin.kubeconfig'))
    const agentArgs = await agentArguments(scope, hubAdmin, signal)
    const site = start('site', [...siteArguments(scope), ...agentArgs])
    await progress.step(`Site ${options.clusterName}`, (tell) =>
      untilReady(site, tell, `https://127.0.0.1:${options.sitePort}`),
    )
    const siteAdmin = await openAdminCluster(join(installation.siteDir, 'admin.kubeconfig'))
    const node = start('node', await nodeArguments(scope, siteAdmin, signal))
    await progress.step(`Node ${options.nodeName}`, async (tell) => {
      // The API's status of the node may be from before it was stopped.
      await untilReady(node, tell, 'starting', nodeReadyMsMax)
      const waiting = { name: options.nodeName, tell, sinceMs: startedMs }
      await untilNodeReady(siteAdmin.cluster, waiting, signal)
    })
    await progress.step('Tunnel', (tell) =>
      untilConnected(hubAdmin.cluster, { name: options.clusterName, tell }, signal),
    )
    await writeUserKubeconfig(installation, settingsOf(options))
    printHints(scope, started)
    // A detached supervisor prints into a log, which holds no secret.
    if (process.send === undefined) await printConsole(hubAdmin, signal)
    process.send?.({ type: 'ready' })
    await Promise.all([
      ...roles.map((role) => role.ended),
      // Only a detached supervisor has one.
      keepLogBounded(installation.logFile('up'), supervisorDeps(options), signal).catch(
        () => undefined,
      ),
    ])
  } finally {
    if (!signal.aborted) await Promise.all(roles.map((role) => role.stop()))
    else await Promise.all(roles.map((role) => role.ended))
  }
}

function startRole(
  { options, installation }: UpScope,
  { role, args }: { role: string; args: readonly string[] },
  signal: AbortSignal,
): ChildRole {
  return superviseRole(
    {
      role,
      args: [...args, '--log-level', options.logLevel],
      logFile: installation.logFile(role),
      engineFlags: engineFlags[role] ?? [],
    },
    supervisorDeps(options),
    signal,
  )
}

function supervisorDeps({ logLevel: level }: UpOptions) {
  const log = createLogger({ level, destination: process.stderr })
  return { clock: systemClock, random: systemRandom, log }
}

function siteArguments({ options, installation }: UpScope): string[] {
  return flagsOf({
    'data-dir': installation.siteDir,
    name: options.clusterName,
    port: String(options.sitePort),
    'cluster-cidr': options.clusterCidr,
    'service-cidr': options.serviceCidr,
  })
}

function flagsOf(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value])
}

/** Returns the arguments with a registration token for the site's agent, unless it has registered before. */
async function agentArguments(
  { options, installation }: UpScope,
  hub: { cluster: ClusterClient; caPem: string },
  signal: AbortSignal,
): Promise<string[]> {
  const hubUrl = `https://127.0.0.1:${options.hubPort}`
  const common = ['--hub', hubUrl]
  if ((await readFileIfPresent(join(installation.siteDir, 'agent', 'ca.crt'))) !== undefined)
    return common
  const created = await createClusterToken(
    hub.cluster,
    {
      clusterName: options.clusterName,
      server: hubUrl,
      caPem: hub.caPem,
      ttlSeconds: upBounds.up.tokenSeconds,
    },
    { clock: systemClock },
    signal,
  )
  const tokenFile = join(installation.dataDir, 'agent-token')
  await writeFileDurably(tokenFile, created.token)
  return [...common, '--hub-token-file', tokenFile, '--hub-ca-hash', created.caHash]
}

async function nodeArguments(
  { options, installation }: UpScope,
  site: { cluster: ClusterClient; caPem: string },
  signal: AbortSignal,
): Promise<string[]> {
  const server = `https://127.0.0.1:${options.sitePort}`
  const common = flagsOf({
    'data-dir': installation.nodeDir,
    'run-dir': join(options.runDir, 'node'),
    'node-name': options.nodeName,
    'kubelet-port': String(options.kubeletPort),
    'cluster-cidr': options.clusterCidr,
    'service-cidr': options.serviceCidr,
    'preload-dir': join(installation.dataDir, 'images'),
    server,
  })
  if (
    (await readFileIfPresent(join(installation.nodeDir, 'pki', 'kubelet-client.crt'))) !== undefined
  )
    return common
  const created = await createJoinToken(
    site.cluster,
    {
      server,
      caPem: site.caPem,
      ttlSeconds: upBounds.up.tokenSeconds,
      description: 'made by skerry up for its own node',
    },
    { clock: systemClock },
    signal,
  )
  const tokenFile = join(installation.dataDir, 'node-token')
  await writeFileDurably(tokenFile, created.token)
  return [...common, '--token-file', tokenFile, '--ca-hash', created.caHash]
}

async function untilReady(
  role: ChildRole,
  tell: (text: string) => void,
  address: string,
  msMax: number = readyMsMax,
): Promise<void> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(
    () =>
      timeout.reject(
        new ExpectedError(
          `Cannot start: not ready after ${msMax / 1_000} s; see its log`,
          exitCodes.failure,
        ),
      ),
    msMax,
  )
  try {
    await Promise.race([role.ready, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
  tell(address)
}

interface Waiting {
  name: string
  tell: (text: string) => void
}

/** Waits for a report made since the start: an older one is not about the node as it is now. */
async function untilNodeReady(
  cluster: ClusterClient,
  { name, tell, sinceMs }: Waiting & { sinceMs: number },
  signal: AbortSignal,
): Promise<void> {
  await poll(
    signal,
    async () => {
      const node = await cluster
        .resource(resources.nodes)
        .get({ name }, signal)
        // Either the node has not registered yet, or the site does not answer for a moment. Both are
        // asked again, and a state that lasts is the error of `poll`.
        .catch(() => undefined)
      if (node === undefined) return 'joining'
      const ready = (node.status?.conditions ?? []).find((each) => each.type === 'Ready')
      // Heartbeats are whole seconds.
      const heardMs = Date.parse(ready?.lastHeartbeatTime ?? '') + 999
      if (!(heardMs >= sinceMs)) return 'looking at its network'
      if (ready?.status === 'True') return undefined
      return ready?.message ?? 'registered'
    },
    tell,
  )
  tell('Ready')
}

/** The hub knows the cluster and its tunnel answers. */
async function untilConnected(
  hub: ClusterClient,
  { name, tell }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  await poll(
    signal,
    async () => {
      const answer = await hub
        .raw({ method: 'GET', path: `/clusters/${name}/readyz`, headers: {} }, signal)
        // The hub may be starting again. It is asked again, and a state that lasts is the error of `poll`.
        .catch(() => undefined)
      if (answer?.status === 200) return undefined
      return answer === undefined ? 'connecting' : `the hub answers ${answer.status}`
    },
    tell,
  )
  tell('connected')
}

async function poll(
  signal: AbortSignal,
  look: () => Promise<string | undefined>,
  tell: (text: string) => void,
): Promise<void> {
  const deadlineMs = performance.now() + nodeReadyMsMax
  for (;;) {
    const state = await look()
    if (state === undefined) return
    tell(state)
    if (performance.now() > deadlineMs) {
      throw new ExpectedError(
        `Cannot start: ${state} after ${nodeReadyMsMax / 1_000} s; see "skerry status"`,
        exitCodes.failure,
      )
    }
    await systemClock.sleep(upBounds.up.readyLookMs, signal)
  }
}

function printHints({ options, installation }: UpScope, startedMs: number): void {
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  process.stdout.write(`
Ready in ${seconds} s. Contexts in ${installation.kubeconfig}: hub, ${options.clusterName}

  export KUBECONFIG=${installation.kubeconfig}
  kubectl --context ${options.clusterName} get nodes
  kubectl --context ${options.clusterName} apply -f examples/guestbook/guestbook.yaml
  kubectl --context hub get clusters

`)
}

/** Prints where the web console is. The login code of a link is a secret, which a terminal may show and a file not. */
async function printConsole(hub: AdminCluster, signal: AbortSignal): Promise<void> {
  const address = consoleAddress(hub.server)
  let text = `  Web console: ${address}; "skerry console" prints a link that logs you in`
  if (process.stdout.isTTY) {
    try {
      const { link } = await makeConsoleLink(hub, signal)
      text = `  Web console, with a login that is good once, for ten minutes:\n  ${link}`
    } catch (error) {
      if (signal.aborted) throw signal.reason
      text = `  Web console: ${address} (no login link: ${messageOf(error)})`
    }
  }
  process.stdout.write(`${text}\n\n`)
}

/** Starts the supervisor as its own process and waits until it reports that everything runs. */
async function detach(options: UpOptions, installation: Installation): Promise<void> {
  const holder = await lockHolder(installation.lockFile)
  if (holder !== undefined) throw alreadyRunning(holder)
  await makeDirectoryDurably(join(options.dataDir, 'log'))
  const logFile = installation.logFile('up')
  await rm(logFile, { force: true })
  await using log = await open(logFile, 'a', 0o600)
  const [file = '', ...args] = programCommand([])
  const child = spawn(
    file,
    [...args, 'up', ...process.argv.slice(3).filter((arg) => arg !== '--detach' && arg !== '-d')],
    {
      detached: true,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    },
  )
  const code = await new Promise<number | 'ready'>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (exitCode) => resolve(exitCode ?? 1))
    child.on('message', () => resolve('ready'))
  })
  process.stdout.write(await readFile(logFile, 'utf8'))
  if (code !== 'ready') {
    throw new ExpectedError(`Cannot start: see ${logFile}`, exitCodes.failure)
  }
  child.disconnect()
  child.unref()
  const hub = await openAdminCluster(join(installation.hubDir, 'admin.kubeconfig'))
  await printConsole(hub, AbortSignal.timeout(readyMsMax))
}
