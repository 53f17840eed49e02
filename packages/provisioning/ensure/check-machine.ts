import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { madeMasters } from '../kind/made-masters.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { targetsMaster } from '../kind/job-targets.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { ask, places } from './commands.ts'
import { exists } from './job-files.ts'
import { siteFor, whyNoMember, whyNoRestart } from './member-health.ts'
import { nodeNameOf } from './node-name.ts'
import { presentVersion, wantedProgram, whyNoPair, whyNoStep } from './program-on-machine.ts'

/** Checks a machine before a job changes anything on it. */
export function checkMachine(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { checks = {}, upgrade } = order.job.spec
    const { machine } = context
    // A program that is not there for such a machine is told before anything is copied.
    if (upgrade !== undefined) await wantedProgram(order, context)
    const findings = [
      ...(checks.health === false ? [] : await healthFindings(context)),
      ...(checks.disk === false ? [] : await diskFindings(order, context)),
      ...(checks.memory === false || upgrade === undefined ? [] : await memoryFindings(context)),
      ...(checks.versionSkew === false || upgrade === undefined
        ? []
        : await versionFindings(order, context)),
    ]
    if (findings.length === 0) return 'it can be changed'
    throw new StepError(`${machine.address}: ${findings.join('; ')}`)
  }
}

async function healthFindings(context: MachineContext): Promise<string[]> {
  const { signal } = context
  const name = await nodeNameOf(context)
  const site = await siteFor(context)
  const command = [places.program, 'machine', 'node-ready', name] as const
  const { exitCode } = await site.run(command, { signal, keepsFiles: true })
  const findings =
    exitCode === 0 ? [] : [`node ${name} is not Ready: put it right first, or leave out the check`]
  const why = (await whyNoMember(context)) ?? (await whyNoRestart(context))
  return why === undefined ? findings : [...findings, `${why}: put it right first`]
}

async function diskFindings({ job }: JobOrder, context: MachineContext): Promise<string[]> {
  const { machine } = context
  const { diskMegabytesMin, imagesMegabytesMin, storeMegabytesMin } = edgeJobBounds
  if (job.spec.pullImages !== undefined) {
    const room = await freeMegabytes(places.data, context)
    if (room >= imagesMegabytesMin) return []
    return [`${places.data} has ${room} MB free: images need ${imagesMegabytesMin} MB`]
  }
  const program = await freeMegabytes(places.programs, context)
  const findings: string[] = []
  if (!(program >= diskMegabytesMin)) {
    findings.push(`${places.programs} has ${program} MB free: ${diskMegabytesMin} MB are needed`)
  }
  if (machine.role !== 'Master') return findings
  const store = await storeMegabytes(context)
  const free = await freeMegabytes(places.data, context)
  if (!(free >= store + storeMegabytesMin)) {
    findings.push(
      `${places.data} has ${free} MB free: the backup of the store needs ${store + storeMegabytesMin} MB`,
    )
  }
  return findings
}

/** The new program is started once while the old one runs. */
async function memoryFindings(context: MachineContext): Promise<string[]> {
  const { memoryMegabytesMin } = edgeJobBounds
  const text = await ask(context, ['cat', '--', '/proc/meminfo'])
  const kilobytes = Number(/^MemAvailable:\s+(\d{1,15}) kB$/m.exec(text)?.[1])
  const megabytes = Math.floor(kilobytes / 1_024)
  if (megabytes >= memoryMegabytesMin) return []
  return [`${megabytes} MB of memory are available: ${memoryMegabytesMin} MB are needed`]
}

async function freeMegabytes(path: string, context: MachineContext): Promise<number> {
  const text = await ask(context, ['df', '-Pk', '--', path])
  const [, , , kilobytes] = (text.split('\n')[1] ?? '').split(/\s+/)
  return Math.floor(Number(kilobytes) / 1_024)
}

async function storeMegabytes(context: MachineContext): Promise<number> {
  const path = `${places.data}/site/store.db`
  // The size of a store in etcd is not known here; a backup that does not fit fails before anything is changed.
  if (!(await exists(context, path))) return 0
  const text = await ask(context, ['stat', '-c', '%s', '--', path])
  return Math.ceil(Number(text.trim()) / 1024 / 1024)
}

/** Masters go before their nodes, nodes are never newer, and no machine leaves out a minor version. */
async function versionFindings(order: JobOrder, context: MachineContext): Promise<string[]> {
  const { edge, machine, signal, print } = context
  const { program } = await wantedProgram(order, context)
  const present = await presentVersion(context)
  print(`program: ${present}, wanted: ${program.version}`)
  const findings = [whyNoStep(present, program.version)]
  if (machine.role === 'Master') {
    const nodes = machinesOf(edge.spec).filter(({ role }) => role === 'Node')
    for (const { address } of nodes) {
      const known = edge.status?.programs?.[address]
      const why = known === undefined ? undefined : whyNoPair(known, program.version)
      if (why !== undefined) findings.push(`${address}: ${why}`)
    }
  } else {
    const isFirst = targetsMaster(edge, order.job.spec)
    const masters = isFirst ? [] : madeMasters(machinesOf(edge.spec), edge.status?.machines ?? [])
    for (const each of masters) {
      const site = await context.shellOf(each)
      const above = await presentVersion({ shell: site, print, signal })
      findings.push(whyNoPair(program.version, above))
    }
  }
  return findings.filter((why) => why !== undefined)
}
