import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { edgeJobBounds, provisioningBounds } from '../limits-table.ts'
import { must, places } from './commands.ts'
import { jobFiles, machineSeconds, readSmall } from './job-files.ts'
import { prepare } from './install-program.ts'
import { siteFor, whyNoMember } from './member-health.ts'
import { nodeNameOf } from './node-name.ts'
import { startUnit } from './site.ts'

const { steadyMs, timeoutSecondsDefault } = edgeJobBounds
const { lookMs } = provisioningBounds.steps

export type Role = 'site' | 'node'

/** Returns the roles of a machine in the order in which they are started again. */
export function rolesOf({ machine }: Pick<MachineContext, 'machine'>): readonly Role[] {
  return machine.role === 'Master' ? ['site', 'node'] : ['node']
}

/**
 * Starts roles again with the machine's program, after it has written its units and installed what it needs. Pods go on
 * running meanwhile.
 */
export async function startRoles(
  order: JobOrder,
  roles: readonly Role[],
  context: MachineContext,
): Promise<void> {
  await prepare(context, places.plan)
  const seconds = await machineSeconds(context)
  await context.shell.write(jobFiles(order).since, `${seconds}\n`, 0o600)
  for (const role of roles) await startUnit(`skerry-${role}`, context)
}

/** The texts that the environment of a role's process must contain. */
export type Marks = Readonly<Partial<Record<Role, string>>>

/**
 * Waits until the roles run steadily with these marks, the site answers and the node is Ready; if the node was started
 * again, by a report that is younger. Rejects with a final StepError when the job's time for a machine is up.
 */
export async function awaitMachine(
  order: JobOrder,
  { marks, roles }: { readonly marks: Marks; readonly roles: readonly Role[] },
  context: MachineContext,
): Promise<void> {
  const { clock, signal, machine, print } = context
  const { timeoutSeconds = timeoutSecondsDefault } = order.job.spec
  const endMs = clock.now() + timeoutSeconds * 1_000
  const since = roles.includes('node') ? await sinceOf(order, context) : undefined
  const name = await nodeNameOf(context)
  let steady = { processes: '', sinceMs: 0 }
  for (;;) {
    const seen = await look({ marks, since, name }, context)
    const nowMs = clock.now()
    if (typeof seen === 'string') steady = { processes: '', sinceMs: nowMs }
    else {
      const processes = seen.processes.join(' ')
      if (processes !== steady.processes) steady = { processes, sinceMs: nowMs }
      else if (nowMs - steady.sinceMs >= steadyMs) return
    }
    if (nowMs >= endMs) {
      await printJournals(context)
      const why = typeof seen === 'string' ? seen : 'its roles do not keep running'
      const text = `${machine.address} is not Ready after ${timeoutSeconds} s: ${why}`
      print(text)
      throw new StepError(text, { isFinal: true })
    }
    await clock.sleep(lookMs, signal)
  }
}

async function printJournals(context: MachineContext): Promise<void> {
  const command = ['journalctl', '--no-pager', '--lines', '20', '--unit'] as const
  for (const role of rolesOf(context)) await must(context, [...command, `skerry-${role}`])
}

/** Looks once. Returns the roles' processes, or what is missing. */
async function look(
  {
    marks,
    since,
    name,
  }: { readonly marks: Marks; readonly since: number | undefined; readonly name: string },
  context: MachineContext,
): Promise<{ readonly processes: readonly string[] } | string> {
  const { shell, signal } = context
  const processes: string[] = []
  for (const role of rolesOf(context)) {
    const unit = `skerry-${role}`
    const shown = await shell.run(['systemctl', 'show', '--property=MainPID', '--value', unit], {
      signal,
      keepsFiles: true,
    })
    const pid = shown.stdout.trim()
    if (shown.exitCode !== 0 || !/^[1-9]\d{0,9}$/.test(pid)) return `${unit} does not run`
    const mark = marks[role]
    if (mark !== undefined && !(await hasMark(context, pid, mark))) {
      return `${unit} does not run with its new program and options`
    }
    processes.push(pid)
  }
  const site = await siteFor(context)
  const flags = since === undefined ? [] : ['--since', String(since)]
  const { exitCode, stderr } = await site.run(
    [places.program, 'machine', 'node-ready', name, ...flags],
    { signal, keepsFiles: true },
  )
  if (exitCode === 0) return (await whyNoMember(context)) ?? { processes }
  return stderr.trim().split('\n').at(-1) || `node ${name} is not Ready`
}

/** Reports whether a process has this text as a variable of its environment. */
export async function hasMark(
  { shell, signal }: Pick<MachineContext, 'shell' | 'signal'>,
  pid: string,
  mark: string,
): Promise<boolean> {
  const command = ['grep', '-zqxF', '-e', mark, '--', `/proc/${pid}/environ`] as const
  return (await shell.run(command, { signal, keepsFiles: true })).exitCode === 0
}

async function sinceOf(order: JobOrder, context: MachineContext): Promise<number | undefined> {
  const text = (await readSmall(context, jobFiles(order).since))?.trim()
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}
