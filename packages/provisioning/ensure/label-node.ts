import { exitCodes } from '@skerry/base'
import { StepError, type MachineContext } from '../contract/step.ts'
import type { MachineTaint } from '../kind/edge-cluster.ts'
import { settingsOf, type NodeSettings } from '../kind/node-settings.ts'
import { provisioningBounds } from '../limits-table.ts'
import { places } from './commands.ts'
import { readSmall } from './job-files.ts'
import { otherOwnerOf } from './node-name.ts'
import { envText, withoutOptions } from './site-options.ts'

const optionsFile = `${places.settings}/node.env`

/**
 * Gives the node of a machine the labels and taints of its block, and takes back those that it has from an earlier one.
 * The hub's own record says which these are: a machine could name those of others.
 */
export async function labelNode(context: MachineContext): Promise<string> {
  const { edge, machine, known, record } = context
  const { node: name, given = [] } =
    known().find(({ address }) => address === machine.address) ?? {}
  if (name === undefined || otherOwnerOf(name, context) !== undefined) {
    throw new StepError(`${machine.address} has no node: retry the step JoinNode`)
  }
  const { digest, ...wanted } = settingsOf(edge.spec, machine)
  const kept = edge.status?.nodeSettings ?? []
  const former = kept.filter((each) => each.digest !== digest && given.includes(each.digest))
  // Should somebody delete the node, it registers with them again.
  await writeOptions(wanted, context)
  const result = await changeNode(name, { former, wanted }, context)
  record({ given: [digest] })
  return result
}

/** Returns the options by which a node registers with labels and taints. */
export function settingsWords({ labels = {}, taints = [] }: NodeSettings): string[] {
  return [
    ...Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
    ...taints.flatMap((taint) => ['--taint', taintText(taint)]),
  ]
}

function taintText({ key, value = '', effect }: MachineTaint): string {
  return `${key}=${value}:${effect}`
}

/** Changes the options of the node's next start; it need not start for that. */
async function writeOptions(wanted: NodeSettings, context: MachineContext): Promise<void> {
  const text = await readSmall(context, optionsFile)
  const [, line] = /^SKERRY_ARGS=(.*)\n?$/.exec(text ?? '') ?? []
  if (line === undefined) {
    const why = `${optionsFile} is not the file that the hub wrote; retry the step JoinNode`
    throw new StepError(`${why} of ${context.machine.address}`, { isFinal: true })
  }
  const words = [
    ...withoutOptions(line.split(' '), ['--label', '--taint']),
    ...settingsWords(wanted),
  ]
  await context.shell.write(optionsFile, envText(words), 0o600)
}

async function changeNode(
  name: string,
  change: { readonly former: readonly NodeSettings[]; readonly wanted: NodeSettings },
  context: MachineContext,
): Promise<string> {
  const { master, print, signal } = context
  const site = await context.shellOf(master)
  const { exitCode, stdout, stderr } = await site.run(
    [places.program, 'machine', 'label-node', name],
    {
      input: JSON.stringify(change),
      timeoutMs: provisioningBounds.steps.labelMsMax,
      // The store of the site keeps what it has acknowledged.
      keepsFiles: true,
      signal,
    },
  )
  for (const text of [stdout, stderr]) if (text.trim() !== '') print(text)
  if (exitCode === 0) return stdout.trimEnd().split('\n').at(-1) ?? ''
  if (exitCode === exitCodes.usage) {
    const why = `the program on ${master.address} cannot change labels and taints: upgrade it first`
    throw new StepError(why, { isFinal: true })
  }
  throw new StepError(
    `skerry machine label-node exited with ${exitCode}: ${stderr.trimEnd().split('\n').at(-1) ?? ''}`,
  )
}
