import { clusterNameOfEdge } from '../kind/edge-cluster.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { must, places } from './commands.ts'
import { clusterInPlan } from './preflight-facts.ts'
import { takeScript } from './take-script.ts'

/** Takes a machine for the cluster of the context, unless another one has it. Rejects with a StepError then. */
export async function takeMachine(plan: string, context: MachineContext): Promise<void> {
  const command = ['sh', '-c', takeScript, 'sh', places.roleSettings, places.plan] as const
  refuse(clusterInPlan(await must(context, command, { input: plan, isQuiet: true })), context)
}

/** Rejects with a StepError if the machine belongs to another cluster. */
export async function refuseOthers(context: MachineContext): Promise<void> {
  refuse(await clusterOnMachine(context), context)
}

function refuse(found: string | undefined, { edge, machine }: MachineContext): void {
  if (found === undefined || found === clusterNameOfEdge(edge)) return
  const name = found === '' ? 'of an unknown name' : found
  const text = `${machine.address} belongs to cluster ${name}: take it out of one of the two, or run "skerry machine clean --yes" there`
  throw new StepError(text, { isFinal: true })
}

/** Returns the name of another cluster to which a machine belongs; undefined if no other one can be told. */
export async function otherClusterOn(context: MachineContext): Promise<string | undefined> {
  const found = await clusterOnMachine(context)
  return found === clusterNameOfEdge(context.edge) || found === '' ? undefined : found
}

async function clusterOnMachine({
  shell,
  signal,
}: Pick<MachineContext, 'shell' | 'signal'>): Promise<string | undefined> {
  for (const path of [places.roleSettings, places.plan]) {
    const { exitCode, stdout } = await shell.run(['cat', '--', path], { signal, keepsFiles: true })
    if (exitCode === 0 && stdout.trim() !== '') return clusterInPlan(stdout)
  }
  return undefined
}
