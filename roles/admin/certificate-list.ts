import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import {
  certificateLifetimes,
  clockFault,
  peekCertificateAndKey,
  readFileIfPresent,
  readFloor,
  renewAtMs,
} from '@skerry/bootstrap'
import { readCertificate, type Certificate } from '@skerry/pki'
import { codeOf } from '../runtime/data-directory.ts'

/** The state of a certificate, by the clock now. */
export type CertificateState = 'good' | 'ends soon' | 'expired' | 'not yet valid' | 'damaged'

/** The process that issues the next certificate. */
export type CertificateRenewal =
  /** Nobody, because it is an authority. */
  | 'authority'
  /** A site or hub that has the authority. */
  | 'here'
  /** The site, at the node's request. */
  | 'node'
  /** The hub, at the agent's request. */
  | 'agent'
  /** Nobody, because it is only kept in case the next one is not valid. */
  | 'kept'

/** One certificate of a role's data directory. */
export interface ListedCertificate {
  /** The certificate's purpose, for a person. */
  readonly for: string
  readonly file: string
  readonly renewal: CertificateRenewal
  readonly state: CertificateState
  /** Undefined if the certificate cannot be read. */
  readonly certificate: Certificate | undefined
  /** Why it is damaged; otherwise empty. */
  readonly detail: string
}

/** The data directory of one role: site, hub, node or agent. */
export interface RoleDirectory {
  readonly path: string
  readonly kind: 'control plane' | 'node' | 'agent'
  readonly certificates: readonly ListedCertificate[]
  /** The time that the role knew last, in milliseconds since the Unix epoch. Undefined if it keeps none. */
  readonly knownMs: number | undefined
}

interface KnownFile {
  /** The file's path without its extension. */
  readonly name: string
  readonly for: string
  readonly renewal: CertificateRenewal
}

/** The files in the order in which they are shown. */
const files: Readonly<Record<RoleDirectory['kind'], readonly KnownFile[]>> = Object.freeze({
  'control plane': [
    { name: 'pki/ca', for: 'authority', renewal: 'authority' },
    { name: 'pki/apiserver', for: 'API server', renewal: 'here' },
    { name: 'pki/apiserver-kubelet-client', for: 'API server, to nodes', renewal: 'here' },
    { name: 'pki/admin', for: 'administrator', renewal: 'here' },
    { name: 'pki/front-proxy-ca', for: 'authority of front proxies', renewal: 'authority' },
    { name: 'pki/front-proxy-client', for: 'API server, to extension servers', renewal: 'here' },
  ],
  node: [
    { name: 'pki/kubelet-client', for: 'node', renewal: 'node' },
    { name: 'pki/kubelet-client.previous', for: 'node, the one before', renewal: 'kept' },
    { name: 'pki/kubelet-serving', for: 'node, to its callers', renewal: 'node' },
    { name: 'pki/kubelet-serving.previous', for: 'to its callers, before', renewal: 'kept' },
  ],
  agent: [
    { name: 'agent', for: 'agent', renewal: 'agent' },
    { name: 'agent.previous', for: 'agent, the one before', renewal: 'kept' },
  ],
})

/** A file by which a role's directory is recognised. */
const marks: readonly [kind: RoleDirectory['kind'], file: string][] = [
  ['control plane', 'pki/ca.key'],
  ['control plane', 'pki/apiserver.crt'],
  ['node', 'pki/kubelet-client.crt'],
  ['agent', 'agent.crt'],
]

/**
 * Finds the roles whose state is in this directory: its own, or those of `skerry up`. Returns none if nothing
 * has started there.
 */
export async function findRoleDirectories(
  dataDir: string,
  nowMs: number,
): Promise<RoleDirectory[]> {
  const places = [dataDir, ...['hub', 'site', 'node', 'agent'].map((name) => join(dataDir, name))]
  const found: RoleDirectory[] = []
  for (const place of places) found.push(...(await readPlace(place, nowMs)))
  return found
}

/** The same for commands that need some. Throws ExpectedError where there are none, or they may not be read. */
export async function readRoleDirectories(
  dataDir: string,
  nowMs: number,
): Promise<RoleDirectory[]> {
  const found = await findRoleDirectories(dataDir, nowMs)
  if (found.length > 0) return found
  throw new ExpectedError(
    `Cannot find certificates in ${dataDir}; pass --data-dir with the directory of "skerry up", or that of a site, hub, node or agent`,
    exitCodes.dataDirectory,
  )
}

/**
 * Selects the certificates that need a person. A certificate that is only kept for another time may have
 * ended.
 */
export function isOff({ state, renewal }: ListedCertificate): boolean {
  return state !== 'good' && renewal !== 'kept'
}

/**
 * Compares the clock with the last time that this machine's roles recorded. Returns undefined if nothing is
 * wrong.
 */
export function clockFaultOf(roles: readonly RoleDirectory[], nowMs: number): string | undefined {
  const knownMs = latestKnownMs(roles)
  return knownMs === undefined ? undefined : clockFault(nowMs, knownMs)
}

export function latestKnownMs(roles: readonly RoleDirectory[]): number | undefined {
  const known = roles.flatMap((role) => role.knownMs ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}

/** A place, an agent inside of it (a site's own), and the virtual clusters of either. */
async function readPlace(place: string, nowMs: number): Promise<RoleDirectory[]> {
  const found: RoleDirectory[] = []
  const look = async (path: string): Promise<void> => {
    const kind = await kindOf(path)
    if (kind !== undefined) found.push(await readRole(path, kind, nowMs))
  }
  await look(place)
  // A site keeps its own agent inside; an agent that runs alone has its own directory.
  if (found[0]?.kind === 'control plane') await look(join(place, 'agent'))
  for (const agent of found.filter(({ kind }) => kind === 'agent')) {
    const clusters = join(agent.path, 'clusters')
    for (const name of (await namesIn(clusters)).toSorted()) await look(join(clusters, name))
  }
  return found
}

async function kindOf(path: string): Promise<RoleDirectory['kind'] | undefined> {
  for (const [kind, file] of marks) {
    if ((await namesIn(join(path, dirname(file)))).includes(basename(file))) return kind
  }
  return undefined
}

async function readRole(
  path: string,
  kind: RoleDirectory['kind'],
  nowMs: number,
): Promise<RoleDirectory> {
  const listed: ListedCertificate[] = []
  for (const file of files[kind]) listed.push(...(await readListed(path, file, nowMs)))
  const trusted = kind === 'node' ? 'pki/ca.crt' : 'ca.crt'
  if (kind !== 'control plane') listed.push(...(await readTrusted(join(path, trusted), nowMs)))
  const floor = await readFloor(join(path, 'time.json'))
  return { path, kind, certificates: listed, knownMs: floor?.reckonedMs }
}

async function readListed(
  directory: string,
  known: KnownFile,
  nowMs: number,
): Promise<ListedCertificate[]> {
  const file = join(directory, `${known.name}.crt`)
  const base = { for: known.for, file, renewal: known.renewal }
  try {
    const paths = { certificatePath: file, keyPath: join(directory, `${known.name}.key`) }
    const pair = await peekCertificateAndKey(paths)
    if (pair === undefined) return []
    const certificate = readCertificate(pair.certificatePem)
    return [{ ...base, certificate, state: stateOf(certificate, nowMs), detail: '' }]
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw explained(error, file)
    return [{ ...base, certificate: undefined, state: 'damaged', detail: error.message }]
  }
}

/** The authority of another machine, by which its certificates are checked. */
async function readTrusted(file: string, nowMs: number): Promise<ListedCertificate[]> {
  const base = { for: 'authority that it trusts', file, renewal: 'authority' } as const
  const text = await readFileIfPresent(file)
  if (text === undefined) return []
  try {
    const certificate = readCertificate(text)
    return [{ ...base, certificate, state: stateOf(certificate, nowMs), detail: '' }]
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const detail = `Cannot use authority ${file}: it is damaged`
    return [{ ...base, certificate: undefined, state: 'damaged', detail }]
  }
}

function stateOf(certificate: Certificate, nowMs: number): CertificateState {
  const { notBeforeMs, notAfterMs, isAuthority } = certificate
  if (nowMs < notBeforeMs) return 'not yet valid'
  if (nowMs >= notAfterMs) return 'expired'
  // Every role renews its own certificates before that time.
  const soonMs = isAuthority
    ? notAfterMs - certificateLifetimes.authorityLeftMs
    : renewAtMs(certificate, 1)
  return nowMs >= soonMs ? 'ends soon' : 'good'
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw explained(error, directory)
  }
}

function explained(error: unknown, path: string): unknown {
  if (codeOf(error) !== 'EACCES') return error
  return new ExpectedError(
    `Cannot read ${path}: permission denied; run as root`,
    exitCodes.missingRight,
    { cause: error },
  )
}
