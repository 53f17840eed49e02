import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import type { Configuration } from '../kind/edge-job.ts'
import { must, places } from './commands.ts'
import { exists, jobFiles, keepOnce, putBack, readSmall } from './job-files.ts'
import { requireQuorum } from './member-health.ts'
import { envText } from './site-options.ts'
import { awaitMachine, rolesOf, startRoles, type Marks, type Role } from './start-roles.ts'

const variable = 'SKERRY_OPTIONS'

/** Gives the roles of a machine other options, and starts them with these. The old ones are kept. */
export function configure(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const roles = configuredRoles(order, context)
    if (roles.includes('site')) await requireQuorum(order, context)
    for (const role of roles) {
      await keepOptions(order, role, context)
      await context.shell.write(pathOf(role), optionsText(order, role), 0o600)
    }
    await startRoles(order, roles, context)
    for (const role of roles) {
      const unit = `/etc/systemd/system/skerry-${role}.service`
      const { exitCode } = await context.shell.run(['grep', '-qF', `$${variable}`, '--', unit], {
        signal: context.signal,
        keepsFiles: true,
      })
      if (exitCode === 0) continue
      const text = `the program on ${context.machine.address} cannot be configured by a job: upgrade it first`
      throw new StepError(text, { isFinal: true })
    }
    return roles.map((role) => optionsText(order, role).trim()).join('; ')
  }
}

/** Waits until the machine is Ready with the new options. */
export function awaitOptions(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const roles = configuredRoles(order, context)
    const marks: Marks = Object.fromEntries(
      roles.map((role) => [role, optionsText(order, role).trim()]),
    )
    await awaitMachine(order, { marks, roles }, context)
    return 'Ready with the new options'
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
      if (isEmpty) await must(context, ['rm', '-f', '--', pathOf(role)])
      else await putBack(context, { from, to: pathOf(role), mode: '0600' })
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

function pathOf(role: Role): string {
  return `${places.settings}/${role}-options.env`
}

function savedPath(home: string, role: Role): string {
  return `${home}/${role}-options`
}

/** An empty file stands for options that were not there. */
async function keepOptions(order: JobOrder, role: Role, context: MachineContext): Promise<void> {
  const saved = savedPath(jobFiles(order).home, role)
  if (await exists(context, pathOf(role))) return keepOnce(context, pathOf(role), saved)
  if (!(await exists(context, saved))) await context.shell.write(saved, '', 0o600)
}

/** Returns the file of a role's options. Throws if a word cannot be in it. */
export function optionsText({ job }: Pick<JobOrder, 'job'>, role: Role): string {
  return envText(wordsOf(job.spec.configure ?? {}, role), variable)
}

function wordsOf({ site, node }: Configuration, role: Role): string[] {
  if (role === 'site') {
    return [
      ...(site?.logLevel === undefined ? [] : ['--log-level', site.logLevel]),
      ...(site?.metricsAPI === false ? ['--disable-metrics-api'] : []),
      ...(site?.featureGates ?? []).flatMap((gate) => ['--feature-gates', gate]),
      ...(site?.runtimeConfig ?? []).flatMap((entry) => ['--runtime-config', entry]),
    ]
  }
  return [
    ...(node?.logLevel === undefined ? [] : ['--log-level', node.logLevel]),
    ...(node?.reservedAddresses ?? []).flatMap((each) => ['--reserved-address', each]),
  ]
}
