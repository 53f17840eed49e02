import type { JobOrder, MachineContext } from '../contract/step.ts'
import { ask, must, places } from './commands.ts'
import { backupStore } from './backup-store.ts'
import { jobFiles, jobsDirectory, exists, keepOnce, readSmall } from './job-files.ts'
import { requireQuorum } from './member-health.ts'
import { wantedProgram, type WantedProgram } from './program-on-machine.ts'
import { awaitMachine, hasMark, rolesOf, startRoles, type Marks } from './start-roles.ts'

/** Makes the new program the machine's own, and starts its roles with it. The old launcher is kept. */
export function switchProgram(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { machine, shell } = context
    const wanted = await wantedProgram(order, context)
    const text = wanted.program.launcher(wanted.directory)
    const files = jobFiles(order)
    const isSame = (await readSmall(context, places.program)) === text
    if (isSame && !(await exists(context, files.launcher)) && (await isRunning(wanted, context))) {
      return `${wanted.program.version} runs already`
    }
    if (!isSame) await requireQuorum(order, context)
    // The site still runs the old program, unless a former attempt has come further.
    if (machine.role === 'Master' && !isSame) await backupStore(order)(context)
    await keepOnce(context, places.program, files.launcher)
    await shell.write(places.program, text, 0o755)
    await startRoles(order, rolesOf(context), context)
    return `${wanted.program.version} starts`
  }
}

async function isRunning(wanted: WantedProgram, context: MachineContext): Promise<boolean> {
  const { shell, signal } = context
  for (const role of rolesOf(context)) {
    const command = [
      'systemctl',
      'show',
      '--property=MainPID',
      '--value',
      `skerry-${role}`,
    ] as const
    const pid = (await shell.run(command, { signal, keepsFiles: true })).stdout.trim()
    if (!/^[1-9]\d{0,9}$/.test(pid)) return false
    if (!(await hasMark(context, pid, markOf(wanted)))) return false
  }
  return true
}

/** Every launcher of a hub tells its program's version to the processes that it starts. */
function markOf({ program }: WantedProgram): string {
  return `SKERRY_PROGRAM=${program.version}`
}

/** Waits until the machine is Ready with the new program. */
export function awaitProgram(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { hub, edge, machine, signal } = context
    const wanted = await wantedProgram(order, context)
    const mark = markOf(wanted)
    const roles = rolesOf(context)
    const marks: Marks = Object.fromEntries(roles.map((role) => [role, mark]))
    await awaitMachine(order, { marks, roles }, context)
    const { version } = wanted.program
    const offline = machine.role === 'Master' ? order.job.spec.upgrade?.package : undefined
    const taken = offline === undefined ? {} : { package: offline }
    await hub.recordProgram(edge, { address: machine.address, version, ...taken }, signal)
    return `Ready with ${version}`
  }
}

/** Removes programs but the present one and the one before, and what former jobs have left. */
export function removeOldPrograms(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { home, launcher } = jobFiles(order)
    const before = await readSmall(context, launcher)
    await must(context, ['rm', '-f', '--', places.awaited, places.confirmed])
    if (before === undefined) return 'nothing was changed'
    const used = `${before}\n${(await readSmall(context, places.program)) ?? ''}`
    const isUsed = (name: string): boolean =>
      used.includes(`/${name}/`) || used.includes(`/${name} `)
    const removed = (await namesIn(context, places.programs)).filter((name) => !isUsed(name))
    const jobs = (await namesIn(context, jobsDirectory)).filter(
      (name) => !home.endsWith(`/${name}`),
    )
    const paths = [
      ...removed.map((name) => `${places.programs}/${name}`),
      ...jobs.map((name) => `${jobsDirectory}/${name}`),
    ]
    for (const path of paths) await must(context, ['rm', '-rf', '--', path])
    return removed.length === 0 ? 'there is none' : removed.join(', ')
  }
}

async function namesIn(context: MachineContext, directory: string): Promise<string[]> {
  if (!(await exists(context, directory))) return []
  const listed = await ask(context, ['ls', '-1', '--', directory])
  return listed.split('\n').filter((name) => /^[\w][\w.+-]{0,200}$/.test(name))
}
