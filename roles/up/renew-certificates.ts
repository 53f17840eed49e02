import { join } from 'node:path'
import { ExpectedError, messageOf, type Clock } from '@skerry/base'
import { ensureClusterPki, readFileIfPresent, readFloor, type IssuerTime } from '@skerry/bootstrap'
import { readCertificate } from '@skerry/pki'
import {
  readRoleDirectories,
  type ListedCertificate,
  type RoleDirectory,
} from '../admin/certificate-list.ts'
import { requestRenewal } from '../runtime/role-socket.ts'
import { readSettings } from './find-installation.ts'
import { installationAt } from './installation.ts'
import { writeUserKubeconfig } from './user-kubeconfig.ts'

export interface RenewedRole {
  readonly directory: string
  /** True: the process that runs there has made them, and uses them. */
  readonly isRunning: boolean
  readonly count: number
}

export interface RenewalReport {
  readonly renewed: readonly RenewedRole[]
  /** One line for each site or hub whose certificates could not be issued. */
  readonly failures: readonly string[]
  /** The certificates that others issue, with advice. */
  readonly left: readonly LeftCertificate[]
}

export interface LeftCertificate {
  readonly listed: ListedCertificate
  readonly advice: string
}

/**
 * Issues every certificate again whose authority is in this directory: through the process that runs there,
 * or directly. Lists the others with advice.
 */
export async function renewCertificates(
  dataDir: string,
  { clock }: { clock: Clock },
): Promise<RenewalReport> {
  const renewed: RenewedRole[] = []
  const failures: string[] = []
  for (const role of await readRoleDirectories(dataDir, clock.now())) {
    if (role.kind !== 'control plane') continue
    try {
      renewed.push(await renewRole(role, clock))
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error
      failures.push(`${role.path}: ${messageOf(error)}`)
    }
  }
  await renewUserKubeconfig(dataDir, renewed)
  const after = await readRoleDirectories(dataDir, clock.now())
  return { renewed, failures, left: after.flatMap(leftOf) }
}

async function renewRole(
  { path, certificates }: RoleDirectory,
  clock: Clock,
): Promise<RenewedRole> {
  const isRunning = await requestRenewal(join(path, 'backup.sock'))
  if (!isRunning) await renewStopped(path, clock)
  const count = certificates.filter(({ renewal }) => renewal === 'here').length
  return { directory: path, isRunning, count }
}

/** Renews without a running process; here the files themselves hold the names of the API server. */
async function renewStopped(path: string, clock: Clock): Promise<void> {
  const directory = join(path, 'pki')
  const floor = await readFloor(join(path, 'time.json'))
  const time: IssuerTime = {
    now: () => clock.now(),
    ...(floor ? { reckonedMs: () => floor.reckonedMs } : {}),
  }
  const names = await servedNames(join(directory, 'apiserver.crt'))
  const options = { directory, authorityName: 'kubernetes', ...names }
  await ensureClusterPki({ ...options, renewsAll: true }, time)
}

/** Returns the names of the certificate; the next start adds missing ones. */
async function servedNames(path: string) {
  try {
    const { dnsNames, ipAddresses } = readCertificate((await readFileIfPresent(path)) ?? '')
    return { dnsNames, ipAddresses }
  } catch (error) {
    if (error instanceof TypeError) return { dnsNames: [], ipAddresses: [] }
    throw error
  }
}

/** The file that `skerry up` writes has the hub's administrator in it. */
async function renewUserKubeconfig(
  dataDir: string,
  renewed: readonly RenewedRole[],
): Promise<void> {
  const settings = await readSettings(dataDir)
  if (settings === undefined) return
  const installation = installationAt(dataDir, settings.runDir)
  if (renewed.every(({ directory }) => directory !== installation.hubDir)) return
  await writeUserKubeconfig(installation, settings)
}

function leftOf({ certificates }: RoleDirectory): LeftCertificate[] {
  return certificates.flatMap((listed) => {
    const advice = adviceOf(listed)
    return advice === undefined ? [] : [{ listed, advice }]
  })
}

/** Returns undefined if nothing needs to be done. */
function adviceOf({ renewal, state, certificate }: ListedCertificate): string | undefined {
  const isGood = state === 'good'
  switch (renewal) {
    case 'authority':
      return isGood
        ? 'an authority is not issued again'
        : 'an authority is not issued again: see "A certificate authority expires" in docs/operating.md'
    case 'node':
      return isGood
        ? 'its site issues it, and the node asks in time'
        : 'its site issues it: make a token there with "skerry token create", and start the node with --token-file'
    case 'agent':
      return isGood
        ? 'its hub issues it, and the agent asks in time'
        : `its hub issues it: a running agent asks by its old key for a month; after that run "skerry cluster join-command ${clusterOf(certificate?.commonName)}" at the hub`
    case 'here':
    case 'kept':
      return undefined
  }
}

/** Returns the cluster of system:karmada:agent:<cluster>. */
function clusterOf(commonName = ''): string {
  return commonName.split(':').at(-1) || '<name>'
}
