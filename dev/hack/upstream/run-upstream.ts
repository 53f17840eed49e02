import { generateKeyPairSync } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeKubeconfig, type Kubeconfig } from '@skerry/client'
import { createAuthority, generateKeyPair, signCertificate, type Authority } from '@skerry/pki'
import { freePort } from '../../processes/free-port.ts'
import { argumentsOf, programIn, runProgram } from './run-program.ts'

export interface UpstreamOptions {
  /** The directory where buildUpstream put the programs. */
  readonly bin: string
  /** The directory of keys, etcd's data and logs. An empty one gives an empty cluster. */
  readonly directory: string
  readonly withControllers?: boolean
  readonly withScheduler?: boolean
  /** The authorizers that decide. Default: Node,RBAC. */
  readonly authorizationMode?: string
  /** Further arguments of kube-apiserver, e.g. `--runtime-config=api/all=true`. */
  readonly apiServerArguments?: readonly string[]
  /** A program that takes etcd's flags, in the place of the one in `bin`. */
  readonly etcdProgram?: string
  /** Whether each write is on the disk before its answer. Default: false, which is faster. */
  readonly isDurable?: boolean
  /** Further arguments of kube-controller-manager. */
  readonly controllerArguments?: readonly string[]
}

export interface RunningUpstream extends AsyncDisposable {
  readonly url: string
  /** The address of its etcd, for aggregated servers. */
  readonly etcd: string
  /** The kubeconfig of the administrator, kubernetes-admin in system:masters. */
  readonly kubeconfigPath: string
  readonly credentials: { readonly ca: string; readonly cert: string; readonly key: string }
}

/** A start takes some 10 s of processor time, which a busy machine gives slowly. */
const startMsMax = 300_000
const dayMs = 24 * 3_600_000

/** Starts etcd and kube-apiserver on free ports of loopback; resolves when /readyz reports ok. */
export async function startUpstream(options: UpstreamOptions): Promise<RunningUpstream> {
  await using stack = new AsyncDisposableStack()
  const { bin, directory } = options
  await mkdir(directory, { recursive: true })
  const files = await writeCredentials(directory)
  const run = async (name: string, args: readonly string[], path?: string): Promise<void> => {
    const program = programIn(bin, directory, name)
    stack.use(await runProgram({ ...program, args, ...(path ? { path } : {}) }))
  }
  const etcd = `http://127.0.0.1:${await freePort()}`
  const peers = `http://127.0.0.1:${await freePort()}`
  const etcdFlags = {
    'data-dir': join(directory, 'etcd'),
    'log-level': 'error',
    'listen-client-urls': etcd,
    'advertise-client-urls': etcd,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
  }
  const unsafe = options.isDurable ? [] : ['--unsafe-no-fsync']
  await run('etcd', [...argumentsOf(etcdFlags), ...unsafe], options.etcdProgram)
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  await run('kube-apiserver', apiServerArguments(options, { etcd, port, directory }))
  await untilReady(url, files)
  const kubeconfigPath = join(directory, 'kubeconfig')
  await writeKubeconfig(kubeconfigPath, kubeconfigOf(url, files))
  const client = ['--kubeconfig', kubeconfigPath, '--leader-elect=false', '--secure-port=0']
  if (options.withControllers) {
    const key = join(directory, 'sa.key')
    const signing = {
      'service-account-private-key-file': key,
      'root-ca-file': join(directory, 'ca.crt'),
      'cluster-signing-cert-file': join(directory, 'ca.crt'),
      'cluster-signing-key-file': join(directory, 'ca.key'),
      'service-cluster-ip-range': serviceRange,
    }
    const more = options.controllerArguments ?? []
    await run('kube-controller-manager', [...client, ...argumentsOf(signing), ...more])
  }
  if (options.withScheduler) await run('kube-scheduler', client)
  const owned = stack.move()
  return {
    url,
    etcd,
    kubeconfigPath,
    credentials: files,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const serviceRange = '10.43.0.0/16'

function apiServerArguments(
  options: UpstreamOptions,
  { etcd, port, directory }: { etcd: string; port: number; directory: string },
): string[] {
  const flags = {
    'etcd-servers': etcd,
    'secure-port': String(port),
    'bind-address': '127.0.0.1',
    'tls-cert-file': join(directory, 'serving.crt'),
    'tls-private-key-file': join(directory, 'serving.key'),
    'client-ca-file': join(directory, 'ca.crt'),
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': join(directory, 'sa.pub'),
    'service-account-signing-key-file': join(directory, 'sa.key'),
    'authorization-mode': options.authorizationMode ?? 'Node,RBAC',
    'service-cluster-ip-range': serviceRange,
    'allow-privileged': 'true',
    'enable-bootstrap-token-auth': 'true',
    'endpoint-reconciler-type': 'none',
  }
  return [...argumentsOf(flags), ...(options.apiServerArguments ?? [])]
}

interface CredentialFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Creates the credentials once for each directory, so that a cluster that is started again knows its users. */
async function writeCredentials(directory: string): Promise<CredentialFiles> {
  const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8')
  try {
    return { ca: await read('ca.crt'), cert: await read('admin.crt'), key: await read('admin.key') }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(directory, name), text, { mode: 0o600 })
  const dates = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + 365 * dayMs }
  const authority = await createAuthority({ subject: { commonName: 'upstream' }, ...dates })
  const serving = await issue(authority, { ...dates, commonName: 'kube-apiserver' })
  const admin = await issue(authority, { ...dates, commonName: 'kubernetes-admin' })
  const signer = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  await write('sa.key', signer.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  await write('sa.pub', signer.publicKey.export({ type: 'spki', format: 'pem' }).toString())
  await write('serving.crt', serving.certificatePem)
  await write('serving.key', serving.privateKeyPem)
  await write('admin.crt', admin.certificatePem)
  await write('admin.key', admin.privateKeyPem)
  await write('ca.key', authority.privateKeyPem)
  await write('ca.crt', authority.certificatePem)
  return {
    ca: authority.certificatePem,
    cert: admin.certificatePem,
    key: admin.privateKeyPem,
  }
}

async function issue(
  authority: Authority,
  { commonName, ...dates }: { commonName: string; notBeforeMs: number; notAfterMs: number },
): Promise<{ certificatePem: string; privateKeyPem: string }> {
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const isServer = commonName === 'kube-apiserver'
  const certificatePem = await signCertificate(authority, {
    subject: { commonName, ...(isServer ? {} : { organizations: ['system:masters'] }) },
    publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: [isServer ? 'serverAuth' : 'clientAuth'],
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  })
  return { certificatePem, privateKeyPem }
}

function kubeconfigOf(server: string, files: CredentialFiles): Kubeconfig {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const user = {
    'client-certificate-data': base64(files.cert),
    'client-key-data': base64(files.key),
  }
  const cluster = { server, 'certificate-authority-data': base64(files.ca) }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'upstream', cluster }],
    users: [{ name: 'admin', user }],
    contexts: [{ name: 'upstream', context: { cluster: 'upstream', user: 'admin' } }],
    'current-context': 'upstream',
  }
}

async function untilReady(url: string, files: CredentialFiles): Promise<void> {
  const endMs = performance.now() + startMsMax
  for (;;) {
    const status = await statusOf(`${url}/readyz`, files)
    if (status === 200) return
    if (performance.now() > endMs)
      throw new Error(`Cannot start upstream: /readyz says ${status ?? 'nothing'}`)
    await sleep(50)
  }
}

function statusOf(url: string, files: CredentialFiles): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(url, { ...files, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
      // The server is not listening yet.
    }).on('error', () => resolve(undefined))
  })
}
