import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { stringify } from 'yaml'
import { freePort } from '../../processes/free-port.ts'
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import { startRoleProcess } from '../../processes/role-process.ts'

/** A control plane under measurement, ours or upstream's, and the processes it is made of. */
export interface ApiSubject extends AsyncDisposable {
  /** The time from the start of the first process to an ok from /readyz. */
  readonly readyMs: number
  readonly pids: readonly number[]
  readonly kubeconfig: string
  readonly client: RawClient
}

export interface SubjectOptions {
  /** The data directory, on a real disk; it outlives restarts. */
  readonly directory: string
  /** Whether controllers and scheduler run, too. */
  readonly isWhole: boolean
}

const readyPollMs = 10
const startMsMax = 60_000

/** A site from the bundle, with the flags and the compile cache that `skerry up` gives it. */
export async function startSite(
  program: string,
  { directory, isWhole }: SubjectOptions,
): Promise<ApiSubject> {
  await mkdir(directory, { recursive: true })
  const port = await freePort()
  const parts = isWhole ? [] : ['--disable-controller-manager', '--disable-scheduler']
  const data = join(directory, 'data')
  const startMs = performance.now()
  const site = await startRoleProcess({
    program,
    role: 'site',
    args: ['--data-dir', data, '--port', String(port), '--bind-address', '127.0.0.1', ...parts],
    directory,
    compileCache: join(directory, 'compile-cache'),
  })
  const kubeconfig = join(data, 'admin.kubeconfig')
  const client = await openRawClient(kubeconfig)
  await untilReady(client)
  return {
    readyMs: performance.now() - startMs,
    pids: [site.pid],
    kubeconfig,
    client,
    async [Symbol.asyncDispose]() {
      client.close()
      await site[Symbol.asyncDispose]()
    },
  }
}

/** Starts upstream's own programs as dev/hack/upstream builds them: etcd, then kube-apiserver. */
export async function startUpstream(
  binaries: string,
  { directory, isWhole }: SubjectOptions,
): Promise<ApiSubject> {
  await mkdir(directory, { recursive: true })
  const [etcdPort, etcdPeerPort, port] = [await freePort(), await freePort(), await freePort()]
  const kubeconfig = await writeCredentials(directory, port)
  const children: ChildProcess[] = []
  const start = async (name: string, flags: Flags): Promise<void> => {
    await using log = await open(join(directory, `${name}.log`), 'a')
    children.push(spawn(join(binaries, name), argumentsOf(flags), stdioTo(log.fd)))
  }
  const startMs = performance.now()
  await start('etcd', etcdFlags(directory, etcdPort, etcdPeerPort))
  await start(
    'kube-apiserver',
    apiServerFlags(directory, { etcd: `http://127.0.0.1:${etcdPort}`, address: '127.0.0.1', port }),
  )
  // The client needs the server's certificate, which its first start writes.
  const client = await openRawClient(kubeconfig)
  await untilReady(client)
  const readyMs = performance.now() - startMs
  if (isWhole) {
    await start('kube-controller-manager', controllerFlags(directory, kubeconfig))
    await start('kube-scheduler', schedulerFlags(kubeconfig))
  }
  return {
    readyMs,
    pids: children.map(({ pid }) => pid ?? 0),
    kubeconfig,
    client,
    async [Symbol.asyncDispose]() {
      client.close()
      for (const child of children.toReversed()) await stop(child)
    },
  }
}

/** Throws ExpectedError when one of them is missing. */
export async function requireBinaries(directory: string): Promise<void> {
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
    await access(join(directory, name)).catch((error: unknown) => {
      throw new ExpectedError(
        `Cannot compare with upstream: ${join(directory, name)} is missing; build it with dev/hack/upstream, or pass --upstream`,
        exitCodes.usage,
        { cause: error },
      )
    })
  }
}

type Flags = Readonly<Record<string, string>>

export function argumentsOf(flags: Flags): string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
}

function stdioTo(fd: number) {
  return { stdio: ['ignore', fd, fd] as ('ignore' | number)[] }
}

function etcdFlags(directory: string, clientPort: number, peerPort: number): Flags {
  const clientUrl = `http://127.0.0.1:${clientPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  return {
    'data-dir': join(directory, 'etcd'),
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    'force-new-cluster': 'true',
    'log-level': 'error',
  }
}

/** The flags of a kube-apiserver with the files of `writeServerFiles`; `etcd` is its URL. */
export function apiServerFlags(
  directory: string,
  { etcd, address, port }: { etcd: string; address: string; port: number },
): Flags {
  return {
    'etcd-servers': etcd,
    'secure-port': String(port),
    'bind-address': address,
    'cert-dir': join(directory, 'certs'),
    'token-auth-file': join(directory, 'tokens.csv'),
    'authorization-mode': 'Node,RBAC',
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': join(directory, 'sa.pub'),
    'service-account-signing-key-file': join(directory, 'sa.key'),
    'service-cluster-ip-range': '10.43.0.0/16',
    'allow-privileged': 'true',
    v: '0',
  }
}

function controllerFlags(directory: string, kubeconfig: string): Flags {
  return {
    kubeconfig,
    'secure-port': '0',
    'leader-elect': 'false',
    'use-service-account-credentials': 'false',
    'service-account-private-key-file': join(directory, 'sa.key'),
    'allocate-node-cidrs': 'true',
    'cluster-cidr': '10.42.0.0/16',
    v: '0',
  }
}

function schedulerFlags(kubeconfig: string): Flags {
  return { kubeconfig, 'secure-port': '0', 'leader-elect': 'false', v: '0' }
}

/** Writes the credentials unless they exist, as on a prepared machine. */
async function writeCredentials(directory: string, port: number): Promise<string> {
  await writeServerFiles(directory)
  const path = join(directory, 'kubeconfig')
  await writeFile(path, kubeconfigFor(`https://127.0.0.1:${port}`), { mode: 0o600 })
  return path
}

/** Writes the keys and the token of a kube-apiserver unless they exist. */
export async function writeServerFiles(directory: string): Promise<void> {
  const key = join(directory, 'sa.key')
  const isThere = await readFile(key).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  await writeFile(key, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  await writeFile(join(directory, 'sa.pub'), pair.publicKey.export({ type: 'spki', format: 'pem' }))
  await writeFile(join(directory, 'tokens.csv'), 'bench,admin,1,"system:masters"\n')
}

/** Returns a kubeconfig with the token of `writeServerFiles`, as YAML. */
export function kubeconfigFor(server: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    // A server of this machine for the length of a measurement.
    clusters: [{ name: 'bench', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  })
}

async function untilReady(client: RawClient): Promise<void> {
  const endMs = performance.now() + startMsMax
  for (;;) {
    const status = await client.get('/readyz').then(
      (answer) => answer.status,
      // The server is not listening yet.
      () => 0,
    )
    if (status === 200) return
    if (performance.now() > endMs)
      throw new Error(`Cannot measure: /readyz still answers ${status}`)
    await sleep(readyPollMs)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  await exited
  clearTimeout(killer)
}
