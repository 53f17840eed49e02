import { StepHeld, type JobOrder, type MachineContext } from '../contract/step.ts'
import { ShellError } from '../contract/shell.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { madeMasters } from '../kind/made-masters.ts'
import { jobText } from '../kind/edge-job.ts'
import { places } from './commands.ts'
import { readSmall } from './job-files.ts'

/**
 * Waits until somebody at the edge, or at the hub, confirms the change of a machine. `skerry confirm` on the machine reads the
 * first file and writes the second. A confirmation on the master is one for all machines of the cluster.
 */
export function awaitConfirmation(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { machine } = context
    const { confirmed, job } = order
    if (confirmed.includes('*') || confirmed.includes(machine.address))
      return 'confirmed at the hub'
    if (await isConfirmed(order, context)) return 'confirmed at the machine'
    if (await isConfirmedAtMaster(order, context)) return 'confirmed at the master'
    await announce(order, context)
    const { name = '' } = job.metadata
    const text = `run "skerry confirm" on ${machine.address}, or "skerry edge-job confirm ${name}" at the hub`
    throw new StepHeld(`nobody has confirmed yet: ${text}`)
  }
}

/** Somebody may have confirmed at any of the masters; one that is away says nothing. */
async function isConfirmedAtMaster(order: JobOrder, context: MachineContext): Promise<boolean> {
  const { edge, machine, master, print, signal } = context
  const made = madeMasters(machinesOf(edge.spec), edge.status?.machines ?? [])
  for (const each of made) {
    if (each.address === machine.address) continue
    try {
      const shell = await context.shellOf(each)
      if (await isConfirmed(order, { shell, print, signal })) return true
    } catch (error) {
      // The only master must answer.
      if (each.address === master.address || !(error instanceof ShellError)) throw error
    }
  }
  return false
}

async function isConfirmed(
  { job }: JobOrder,
  context: Pick<MachineContext, 'shell' | 'print' | 'signal'>,
): Promise<boolean> {
  const text = await readSmall(context, places.confirmed)
  if (text === undefined) return false
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    // Somebody else's file confirms nothing.
    return false
  }
  return typeof read === 'object' && read !== null && 'job' in read && read.job === job.metadata.uid
}

/** Writes for the person at the machine what will be done. */
async function announce({ job }: JobOrder, context: MachineContext): Promise<void> {
  const { machine, edge, shell } = context
  const { namespace, name, uid } = job.metadata
  const cluster = edge.metadata.name ?? ''
  const scope = machine.role === 'Master' ? 'cluster' : 'machine'
  const told = { job: uid, name: `${namespace}/${name}`, work: jobText(job.spec), cluster, scope }
  const text = `${JSON.stringify({ ...told, machine: machine.address })}\n`
  if ((await readSmall(context, places.awaited)) !== text) {
    await shell.write(places.awaited, text, 0o600)
  }
}
