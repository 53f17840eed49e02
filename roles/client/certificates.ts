import { exitCodes, systemClock } from '@skerry/base'
import {
  clockFaultOf,
  latestKnownMs,
  readRoleDirectories,
  type ListedCertificate,
} from '../admin/certificate-list.ts'
import { renewCertificates, type RenewalReport } from '../up/renew-certificates.ts'
import { printTable } from './text/print-table.ts'

/** Prints the certificates of the roles below a directory, and what is wrong with the clock. */
export async function printCertificates(
  dataDir: string,
  output: string | undefined,
): Promise<void> {
  const nowMs = systemClock.now()
  const roles = await readRoleDirectories(dataDir, nowMs)
  const listed = roles.flatMap((role) => role.certificates)
  const fault = clockFaultOf(roles, nowMs)
  if (output === 'json') {
    const known = dateOf(latestKnownMs(roles))
    const clock = { now: dateOf(nowMs), known: known ?? null, fault: fault ?? null }
    console.log(JSON.stringify({ clock, certificates: listed.map(toObject) }, null, 2))
    return
  }
  printTable([['FOR', 'FILE', 'FROM', 'UNTIL', 'STATE'], ...listed.map(rowOf)])
  for (const { detail } of listed) if (detail !== '') console.error(detail)
  if (fault !== undefined) console.error(fault)
}

/** Issues certificates again, and prints which; the exit code says whether all are good now. */
export async function printRenewal(dataDir: string): Promise<void> {
  printReport(await renewCertificates(dataDir, { clock: systemClock }))
}

function printReport({ renewed, failures, left }: RenewalReport): void {
  for (const { directory, isRunning, count } of renewed) {
    const use = isRunning
      ? 'it runs, and uses them now'
      : 'it is stopped, and uses them when it starts'
    console.log(`${directory}: ${count} certificates issued again; ${use}`)
  }
  if (left.length > 0) console.log('Not issued again:')
  for (const { listed, advice } of left) {
    const until = dateOf(listed.certificate?.notAfterMs)
    const state = listed.state === 'good' && until ? `good until ${until}` : listed.state
    console.log(`  ${listed.file}: ${state}; ${advice}`)
  }
  for (const failure of failures) console.error(failure)
  const isBad = left.some(({ listed: { state } }) => state !== 'good' && state !== 'ends soon')
  if (failures.length > 0 || isBad) process.exitCode = exitCodes.certificates
}

function rowOf(listed: ListedCertificate): string[] {
  const { certificate, file, state } = listed
  const [from, until] = [dateOf(certificate?.notBeforeMs), dateOf(certificate?.notAfterMs)]
  return [listed.for, file, from ?? '<unknown>', until ?? '<unknown>', state]
}

function toObject(listed: ListedCertificate) {
  const { certificate, file, state, detail } = listed
  const [from, until] = [dateOf(certificate?.notBeforeMs), dateOf(certificate?.notAfterMs)]
  return {
    for: listed.for,
    file,
    name: certificate?.commonName ?? null,
    from: from ?? null,
    until: until ?? null,
    state,
    ...(detail === '' ? {} : { detail }),
  }
}

/** Formats a time like Kubernetes: seconds in UTC. */
function dateOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
