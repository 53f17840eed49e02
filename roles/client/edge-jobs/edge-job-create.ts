import { ExpectedError, exitCodes } from '@skerry/base'
import { edgeJobResource, jobText, type EdgeJob, type EdgeJobSpec } from '@skerry/provisioning'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import { stopSignal } from '../../runtime/role-context.ts'
import {
  namespaceWords,
  soon,
  toldPlainly,
  type EdgeOptions,
} from '../edge-clusters/edge-cluster-access.ts'
import { followJob } from './edge-job-watch.ts'

/** The options by which a person bounds a job. */
interface JobLimitFlags {
  machinesAtOnce: number | undefined
  clustersAtOnce: number | undefined
  failureTolerance: string | undefined
  timeout: number | undefined
  attempts: number | undefined
}

/** The options of every command that makes a job. */
export interface JobFlags extends Omit<EdgeOptions, 'name'>, JobLimitFlags {
  names: string[]
  selector: string | undefined
  job: string | undefined
  masters: boolean | undefined
  nodes: boolean | undefined
  machine: string[]
  machineSelector: string | undefined
  requireConfirmation: boolean | undefined
  skipCheck: string[]
  dryRun: boolean | undefined
  wait: boolean | undefined
}

export type JobWork = Pick<EdgeJobSpec, 'upgrade' | 'configure' | 'pullImages'>

/** Makes an EdgeJob. Rejects with an ExpectedError. */
export async function createEdgeJob(flags: JobFlags, work: JobWork): Promise<void> {
  await toldPlainly(`make a job to ${jobText({ ...work, clusters: {} })}`, async () => {
    const { namespace, output, dryRun } = flags
    const { cluster: hub } = await openChosenHub(flags)
    const client = hub.resource(edgeJobResource)
    const wanted = jobOf(flags, work)
    const job = await client.create(wanted, soon(), { isDryRun: dryRun === true })
    if (dryRun === true) return console.log(JSON.stringify(job))
    const { name = '' } = job.metadata
    if (flags.wait === true) {
      const access = { hub, client, key: { namespace, name } }
      return followJob(access, { output, write: console.log }, stopSignal())
    }
    if (output === 'json') return console.log(JSON.stringify(job))
    console.log(
      `EdgeJob ${name} begins; see "skerry edge-job watch ${name}${namespaceWords(namespace)}"`,
    )
  })
}

function jobOf(flags: JobFlags, work: JobWork): EdgeJob {
  const { namespace, names, selector, job, machine, machineSelector, skipCheck, attempts } = flags
  if ((names.length === 0) === (selector === undefined)) {
    const text = 'Cannot choose clusters: name them, or give --selector'
    throw new ExpectedError(text, exitCodes.usage)
  }
  const role = roleOf(flags)
  const machines = {
    ...(role === undefined ? {} : { role }),
    ...(machine.length === 0 ? {} : { addresses: machine }),
    ...(machineSelector === undefined ? {} : { labelSelector: labelsOf(machineSelector) }),
  }
  const checks = Object.fromEntries(skipCheck.map((check) => [check, false]))
  const tolerance = flags.failureTolerance
  const spec: EdgeJobSpec = {
    ...work,
    clusters: selector === undefined ? { names } : { labelSelector: labelsOf(selector) },
    ...(Object.keys(machines).length === 0 ? {} : { machines }),
    ...given('machinesAtOnce', flags.machinesAtOnce),
    ...given('clustersAtOnce', flags.clustersAtOnce),
    ...given(
      'failureTolerance',
      tolerance !== undefined && /^\d+$/.test(tolerance) ? Number(tolerance) : tolerance,
    ),
    ...given('timeoutSeconds', flags.timeout),
    ...(attempts === undefined ? {} : { retry: { attempts } }),
    ...(flags.requireConfirmation === true ? { requireConfirmation: true } : {}),
    ...(skipCheck.length === 0 ? {} : { checks }),
  }
  const verb = Object.keys(work)[0]?.toLowerCase() ?? 'job'
  const metadata =
    job === undefined ? { namespace, generateName: `${verb}-` } : { namespace, name: job }
  return { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeJob', metadata, spec }
}

function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [key in Name]?: Value } {
  // The object has this one key, or none.
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value })
}

function roleOf({ masters, nodes }: JobFlags): 'Master' | 'Node' | undefined {
  if (masters === true && nodes === true) {
    const text = 'Cannot choose machines: give --masters or --nodes, or neither for all of them'
    throw new ExpectedError(text, exitCodes.usage)
  }
  if (masters === true) return 'Master'
  return nodes === true ? 'Node' : undefined
}

/** Parses `tier=front,region=north`. */
function labelsOf(text: string): { matchLabels: Record<string, string> } {
  const pairs = text.split(',').map((pair) => {
    const [key = '', value, ...rest] = pair.split('=')
    if (key !== '' && value !== undefined && rest.length === 0) return [key, value] as const
    const why = 'write key=value, several separated by commas'
    throw new ExpectedError(`Cannot read selector ${text}: ${why}`, exitCodes.usage)
  })
  return { matchLabels: Object.fromEntries(pairs) }
}
