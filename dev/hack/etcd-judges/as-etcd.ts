/**
 * Starts `skerry etcd` with etcd's flags: judges start their server as a program of the name etcd. Flags that mean
 * something for several members only are left out; this process becomes the server, so that its signals and its death
 * are the server's.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { generateKeyPair, createAuthority, signCertificate } from '@skerry/pki'

const launcher = resolve(import.meta.dirname, '../../../skerry')
const dayMs = 24 * 3_600_000
/** The version whose answers `skerry etcd` gives. */
const version = '3.6.0'

/** Flags that `skerry etcd` takes under the same name. */
const same = new Set([
  'auto-compaction-retention',
  'cert-file',
  'client-cert-allowed-cn',
  'data-dir',
  'key-file',
  'listen-client-urls',
  'advertise-client-urls',
  'max-request-bytes',
  'max-txn-ops',
  'name',
  'quota-backend-bytes',
  'trusted-ca-file',
  'watch-progress-notify-interval',
])

const renamed: Readonly<Record<string, string>> = Object.freeze({
  'experimental-watch-progress-notify-interval': 'watch-progress-notify-interval',
})

/** Flags about peers, elections, and files that one member has not; and those whose default is the only behaviour. */
const leftOut = new Set([
  'auto-tls',
  'client-cert-auth',
  'bcrypt-cost',
  'compaction-batch-limit',
  'election-timeout',
  'experimental-compaction-batch-limit',
  'experimental-snapshot-catchup-entries',
  'force-new-cluster',
  'heartbeat-interval',
  'initial-advertise-peer-urls',
  'initial-cluster',
  'initial-cluster-state',
  'initial-cluster-token',
  'listen-peer-urls',
  'log-level',
  'logger',
  'log-outputs',
  'peer-auto-tls',
  'peer-cert-file',
  'peer-key-file',
  'peer-trusted-ca-file',
  'snapshot-catchup-entries',
  'snapshot-count',
  'strict-reconfig-check',
  'unsafe-no-fsync',
])

const flags = readFlags(process.argv.slice(2))
if (flags.has('version')) console.log(`etcd Version: ${version}`)
else if (flags.has('help')) console.log('  --snapshot-catchup-entries')
else await become(flags)

function readFlags(args: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < args.length; at += 1) {
    const [, name = '', assigned] = /^--?([a-z0-9-]+)(?:=(.*))?$/s.exec(args[at] ?? '') ?? []
    const next = args[at + 1]
    if (assigned !== undefined) found.set(name, assigned)
    else if (next === undefined || next.startsWith('-')) found.set(name, 'true')
    else {
      found.set(name, next)
      at += 1
    }
  }
  return found
}

async function become(given: ReadonlyMap<string, string>): Promise<void> {
  const args = ['etcd']
  for (const [name, value] of given) {
    const ours = renamed[name] ?? name
    if (same.has(ours)) args.push(`--${ours}=${value}`)
    else if (!leftOut.has(name)) throw new RangeError(`skerry etcd has no --${name}=${value}`)
  }
  const members = given.get('initial-cluster')?.split(',').length ?? 1
  if (members > 1) throw new RangeError(`skerry etcd has one member, not ${members}`)
  if (given.has('auto-tls')) args.push(...(await ownCertificate(given.get('data-dir') ?? '')))
  process.execve?.(launcher, [launcher, ...args], process.env as Record<string, string>)
}

/** etcd's --auto-tls: a certificate that no authority has signed. */
async function ownCertificate(dataDirectory: string): Promise<string[]> {
  const directory = join(dirname(dataDirectory), 'auto-tls')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const dates = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs }
  const authority = await createAuthority({ subject: { commonName: 'auto-tls' }, ...dates })
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const certificate = await signCertificate(authority, {
    subject: { commonName: 'localhost' },
    publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  })
  const files = { cert: join(directory, 'server.crt'), key: join(directory, 'server.key') }
  writeFileSync(files.cert, certificate)
  writeFileSync(files.key, privateKeyPem, { mode: 0o600 })
  return [`--cert-file=${files.cert}`, `--key-file=${files.key}`]
}
