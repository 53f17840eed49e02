import { humanDuration } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { decideRegistration, pendingRegistrations, type Registration } from '@skerry/membership'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import type { ChosenHub } from '../../admin/chosen-hub.ts'
import { printTable } from '../text/print-table.ts'
import { askMs } from '../limits-table.ts'

export interface RegistrationsOptions extends ChosenHub {
  output: string | undefined
}

/** Prints the agents that wait to be accepted, with their addresses. */
export async function printPending(options: RegistrationsOptions): Promise<void> {
  const hub = await open(options)
  const found = await pendingRegistrations(hub, AbortSignal.timeout(askMs))
  if (options.output === 'json') return console.log(JSON.stringify(found))
  if (found.length === 0) return console.log('No agent waits to be accepted')
  printTable([
    ['NAME', 'REQUEST', 'ADDRESS', 'VERSION', 'ID', 'KEY', 'AGE', 'NOTE'],
    ...found.map(({ cluster, request, address, version, id, fingerprint, since, ...more }) => [
      cluster,
      request,
      address,
      version,
      id,
      fingerprint.slice(0, 'sha256:'.length + 16),
      humanDuration(Math.max(0, Date.now() - Date.parse(since))),
      [more.waitsFor, ...more.warnings].join('; '),
    ]),
  ])
}

export interface DecisionOptions extends RegistrationsOptions {
  name: string
  /** The request, if several ask for the name. If omitted, there must be only one. */
  request: string | undefined
  accepts: boolean
}

/** Accepts or rejects an agent; if several ask for the name, the chosen one. */
export async function decide(options: DecisionOptions): Promise<void> {
  const { name, accepts, output } = options
  const hub = await open(options)
  const signal = AbortSignal.timeout(askMs)
  const found = await pendingRegistrations(hub, signal)
  const { request, fingerprint } = chosen(found, options)
  await decideRegistration(hub, { request, accepts, nowMs: Date.now() }, signal)
  if (output === 'json') {
    console.log(JSON.stringify({ cluster: name, request, fingerprint, accepted: accepts }))
  } else if (accepts) console.log(`Accepted the agent of ${name} with the key ${fingerprint}`)
  else console.log(`Rejected the agent of ${name} with the key ${fingerprint}; its token is void`)
}

function chosen(found: readonly Registration[], options: DecisionOptions): Registration {
  const { name, request, accepts } = options
  const verb = accepts ? 'accept' : 'reject'
  const asking = found.filter(({ cluster }) => cluster === name)
  const meant = asking.filter((each) => request === undefined || each.request === request)
  const [one, ...others] = meant
  if (one !== undefined && others.length === 0) return one
  const seen = asking.map((each) => `${each.request} from ${each.address || 'nowhere known'}`)
  if (seen.length === 0) {
    throw new ExpectedError(
      `Cannot ${verb} the agent of ${name}: none waits; see "skerry cluster pending"`,
      exitCodes.usage,
    )
  }
  throw new ExpectedError(
    `Cannot ${verb} the agent of ${name}: choose one with --request: ${seen.join(', ')}`,
    exitCodes.usage,
  )
}

async function open(options: RegistrationsOptions) {
  return (await openChosenHub(options)).cluster
}
