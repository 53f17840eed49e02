import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { coversRole } from '../kind/job-targets.ts'
import { must } from './commands.ts'
import { exists, jobFiles, keepOnce, putBack, readSmall } from './job-files.ts'
import { requireQuorum } from './member-health.ts'
import { optionsFileOf, optionsText, optionsVariable } from './role-options.ts'
import { awaitMachine, rolesOf, startRoles, type Marks, type Role } from './start-roles.ts'

/** Gives the roles of a machine other options, and starts them with these. The old ones are kept. */
export function configure(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const roles = configuredRoles(order, context)
    if (roles.includes('site')) await requireQuorum(order, context)
    for (const role of roles) {
      await keepOptions(order, role, context)
      await context.shell.write(optionsFileOf(role), textOf(order, role), 0o600)
    }
    await startRoles(order, roles, context)
    for (const role of roles) {
      const unit = `/etc/systemd/system/skerry-${role}.service`
      const { exitCode } = await context.shell.run(['grep', '-qF', optionsVariable, '--', unit], {
        signal: context.signal,
        keepsFiles: true,
      })
      if (exitCode === 0) continue
      const text = `the program on ${context.machine.address} cannot be configured by a job: upgrade it first`
      throw new StepError(text, { isFinal: true })
    }
    return roles.map((role) => textOf(order, role).trim()).join('; ')
  }
}

/** Waits until the machine is Ready with the new options. */
export function awaitOptions(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const roles = configuredRoles(order, context)
    const marks: Marks = Object.fromEntries(roles.map((role) => [role, textOf(order, role).trim()]))
    await awaitMachine(order, { marks, roles }, context)
    return 'Ready with the new options'
  }
}

/**
 * Keeps the options of a role for machines that join later, once every machine of the cluster that has the role is Ready
 * with them. Those of some machines are an affair of these.
 */
export function keepForLater(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async ({ edge, hub, signal }) => {
    const { job, isDoneEverywhere } = order
    if (isDoneEverywhere?.('MachineReady') === false) return 'other machines do not have them yet'
    const { site, node } = job.spec.configure ?? {}
    const whole = {
      ...(site !== undefined && coversRole('site', edge, job.spec) ? { site } : {}),
      ...(node !== undefined && coversRole('node', edge, job.spec) ? { node } : {}),
    }
    const roles = Object.keys(whole)
    if (roles.length === 0) return 'the job is about some machines only'
    await hub.recordConfiguration(edge, whole, signal)
    return `machines that join later get the options of ${roles.join(' and ')}`
  }
}

/** Puts the old options back, and waits until the machine is Ready with them. */
export function restoreOptions(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const roles = configuredRoles(order, context)
    const { home } = jobFiles(order)
    const kept: Role[] = []
    for (const role of roles) if (await exists(context, savedPath(home, role))) kept.push(role)
    if (kept.length === 0) return 'nothing was changed'
    for (const role of kept) {
      const from = savedPath(home, role)
      const isEmpty = (await readSmall(context, from)) === ''
      if (isEmpty) await must(context, ['rm', '-f', '--', optionsFileOf(role)])
      else await putBack(context, { from, to: optionsFileOf(role), mode: '0600' })
    }
    await startRoles(order, kept, context)
    await awaitMachine(order, { marks: {}, roles: kept }, context)
    await must(context, ['rm', '-rf', '--', home])
    return 'Ready with the former options'
  }
}

function configuredRoles({ job }: JobOrder, context: MachineContext): Role[] {
  return rolesOf(context).filter((role) => job.spec.configure?.[role] !== undefined)
}

function textOf({ job }: JobOrder, role: Role): string {
  return optionsText(job.spec.configure ?? {}, role)
}

function savedPath(home: string, role: Role): string {
  return `${home}/${role}-options`
}

/** An empty file stands for options that were not there. */
async function keepOptions(order: JobOrder, role: Role, context: MachineContext): Promise<void> {
  const saved = savedPath(jobFiles(order).home, role)
  if (await exists(context, optionsFileOf(role)))
    return keepOnce(context, optionsFileOf(role), saved)
  if (!(await exists(context, saved))) await context.shell.write(saved, '', 0o600)
}
