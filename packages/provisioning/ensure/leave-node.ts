import { provisioningBounds } from '../limits-table.ts'
import type { MachineContext, ForMachineContext } from '../contract/step.ts'
import { must, places } from './commands.ts'
import { otherOwnerOf } from './node-name.ts'
import { otherClusterOn } from './take-machine.ts'

const { drainMsMax, drainMarginMs, deleteNodeMsMax, stopMsMax } = provisioningBounds.departure

/** Keeps further pods off the node of a machine. */
export async function cordonNode(context: ForMachineContext): Promise<string> {
  context.record({ isCordoned: true })
  return onNode(context, async (name, { runOnSite }) => {
    await runOnSite(['drain-node', name, '--cordon-only'], deleteNodeMsMax)
    return `node ${name} gets no further pods`
  })
}

/** Moves pods off the node as far as their disruption budgets and their grace permit. */
export async function drainNode(context: ForMachineContext): Promise<string> {
  return onNode(context, async (name, { runOnSite }) => {
    const words = ['drain-node', name, '--timeout', `${drainMsMax / 1_000}s`]
    await runOnSite(words, drainMsMax + drainMarginMs)
    return `no pod of others runs on node ${name}`
  })
}

/** Ends the agent of the node, which would register the node again. Pods that are left run until the machine is clean. */
export async function stopNode(context: MachineContext): Promise<string> {
  const { shell, signal } = context
  const other = await otherClusterOn(context)
  if (other !== undefined) return `the machine belongs to cluster ${other}, and stays as it is`
  const unit = 'skerry-node.service'
  const { exitCode } = await shell.run(['test', '-e', `/etc/systemd/system/${unit}`], {
    signal,
    keepsFiles: true,
  })
  if (exitCode !== 0) return 'the machine has no node'
  await must(context, ['systemctl', 'disable', '--now', '--quiet', unit], { timeoutMs: stopMsMax })
  return 'the node has stopped'
}

/** Removes the node from the cluster; the pods of a dead machine go with it. */
export async function deleteNode(context: ForMachineContext): Promise<string> {
  const { machine, known } = context
  const isDead = known().find(({ address }) => address === machine.address)?.isDead === true
  return onNode(context, async (name, { runOnSite }) => {
    await runOnSite(['delete-node', name, ...(isDead ? ['--with-pods'] : [])], deleteNodeMsMax)
    return isDead ? `node ${name} and its pods are gone` : `node ${name} is gone`
  })
}

interface Site {
  /** Runs `skerry machine` with these words on the master. */
  readonly runOnSite: (words: readonly string[], timeoutMs: number) => Promise<void>
}

/** Acts on the node of a machine, unless there is none, or another machine has taken its name. */
async function onNode(
  context: ForMachineContext,
  act: (name: string, site: Site) => Promise<string>,
): Promise<string> {
  const { machine, master, signal, known } = context
  const name = known().find(({ address }) => address === machine.address)?.node
  if (name === undefined) return 'the machine never had a node'
  const other = otherOwnerOf(name, context)
  if (other !== undefined) return `node ${name} is that of ${other.address} now`
  const shell = await context.shellOf(master)
  const kubeconfig = `${places.data}/site/admin.kubeconfig`
  const { exitCode } = await shell.run(['test', '-e', kubeconfig], { signal, keepsFiles: true })
  if (exitCode !== 0) return `${master.address} has no site, and so no node ${name}`
  return act(name, {
    async runOnSite(words, timeoutMs) {
      await must({ ...context, shell }, [places.program, 'machine', ...words], {
        timeoutMs,
        // The store of the site keeps what it has acknowledged.
        keepsFiles: true,
      })
    },
  })
}
