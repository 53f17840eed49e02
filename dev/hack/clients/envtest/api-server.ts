/**
 * Our API server behind kube-apiserver's command line, as far as envtest uses it. Development only. The
 * stand-in for etcd returns the store's directory, so a restarted server finds its objects again, and a
 * freshly started etcd is empty.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { builtinKinds } from '@skerry/kinds'
import type { GroupResource } from '@skerry/api'
import {
  createApiServer,
  createDefaultAccess,
  ensureBootstrapObjects,
  serviceAddressDefaults,
  type Access,
  type Objects,
  type TlsFiles,
} from '@skerry/apiserver'
import {
  abortReason,
  createLogger,
  createMetrics,
  runAll,
  systemClock,
  systemRandom,
  type Logger,
} from '@skerry/base'
import { ensureAuthority, issueClientCertificate, type CertificateAndKey } from '@skerry/bootstrap'
import { compactionDefaults, openSqliteStore, runCompaction } from '@skerry/store'
import { addressOf } from '../../../../roles/runtime/host-addresses.ts'
import { stopSignal } from '../../../../roles/runtime/role-context.ts'
import { readFlags, type Flags } from './server-flags.ts'

const flags = readFlags()
const signal = stopSignal()
const log = createLogger({ level: 'error', destination: process.stderr })
try {
  await serve(flags, log)
} catch (error) {
  if (!(signal.aborted && error === signal.reason)) throw error
}
// Clients that keep their connections must not keep the test waiting.
process.exit(0)

async function serve(options: Flags, logger: Logger): Promise<void> {
  const deps = { clock: systemClock, random: systemRandom, log: logger }
  const directory = await storeDirectory(options.one('etcd-servers'))
  await using store = await openSqliteStore(join(directory, 'store.db'), {}, deps)
  const range = options.one('service-cluster-ip-range', '10.0.0.0/24')
  const identity = await proxyIdentity(directory)
  const access = await accessOf(options, deps)
  const dependencies = { store, ...deps, metrics: createMetrics() }
  await using server = await createApiServer(
    {
      kinds: await builtinKinds(),
      listening: {
        tls: await tlsFiles(options),
        address: options.one('bind-address', '127.0.0.1'),
        port: Number(options.one('secure-port', '6443')),
      },
      serving: ({ objects }) => ({ access: access(objects) }),
      services: { ...serviceAddressDefaults, clusterIpRanges: [range] },
      aggregation: { identity: () => identity },
      hasFlowControl: true,
      version: { gitVersion: 'v1.36.3' },
    },
    dependencies,
    signal,
  )
  await ensureBootstrapObjects(server.objects)
  await ensureApiService(server.objects, addressOf(range, 1))
  await server.listen()
  await runAll(signal, [
    (scope) => Promise.race([server.failed, untilAborted(scope)]),
    (scope) => runCompaction(store, compactionDefaults, systemClock, scope),
  ])
}

function untilAborted(scope: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = (): void => reject(abortReason(scope))
    if (scope.aborted) onAbort()
    else scope.addEventListener('abort', onAbort, { once: true })
  })
}

async function storeDirectory(etcd: string): Promise<string> {
  const answer = await fetch(new URL('/directory', etcd), { signal })
  if (!answer.ok) throw new Error(`Cannot open the store: ${etcd} answered ${answer.status}`)
  return answer.text()
}

async function tlsFiles(options: Flags): Promise<TlsFiles> {
  const directory = options.one('cert-dir', '.')
  const clientCa = options.one('client-ca-file', '')
  const [cert, key] = await Promise.all([
    readFile(options.one('tls-cert-file', join(directory, 'apiserver.crt'))),
    readFile(options.one('tls-private-key-file', join(directory, 'apiserver.key'))),
  ])
  return { cert, key, clientCa: clientCa === '' ? [] : await readFile(clientCa) }
}

async function accessOf(
  options: Flags,
  deps: { clock: typeof systemClock; random: typeof systemRandom; log: Logger },
): Promise<(objects: Objects) => Access> {
  const tokenFile = options.one('token-auth-file', '')
  const access = createDefaultAccess(
    {
      serviceAccounts: {
        issuer: options.one('service-account-issuer'),
        signingKeyPem: await readFile(options.one('service-account-signing-key-file'), 'utf8'),
      },
      ...(tokenFile === '' ? {} : { tokenFile: await readFile(tokenFile, 'utf8') }),
    },
    deps,
  )
  const disabled = new Set(options.all('disable-admission-plugins'))
  return (objects) => {
    const all = access(objects)
    return { ...all, admission: all.admission.filter(({ name }) => !disabled.has(name)) }
  }
}

/** Returns this server's identity at extension servers. */
async function proxyIdentity(directory: string): Promise<CertificateAndKey> {
  const authority = await ensureAuthority(
    {
      certificatePath: join(directory, 'proxy-ca.crt'),
      keyPath: join(directory, 'proxy-ca.key'),
      commonName: 'front-proxy-ca',
    },
    systemClock,
  )
  return issueClientCertificate(
    authority,
    { subject: { commonName: 'front-proxy-client' } },
    systemClock,
  )
}

/** The service that every cluster has; nothing answers at its address here. */
async function ensureApiService(objects: Objects, clusterIP: string): Promise<void> {
  const services: GroupResource = { group: '', resource: 'services' }
  if (objects.get(services, 'default', 'kubernetes') !== undefined) return
  await objects.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: { type: 'ClusterIP', clusterIP, ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
  })
}
