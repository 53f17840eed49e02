import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'
import { StepError, type StepContext } from '../contract/step.ts'
import { must, places } from './commands.ts'

/** The name of the step, by which it knows that it has been done before. */
export const addOnsName = 'ApplyAddOns'

const path = `${places.settings}/add-ons.json`
const { addOnBytesMax, applyMsMax } = provisioningBounds.steps
/** The exit code of a program that was given something wrong, which another attempt would not help. */
const usage = 2

/** Returns true if the object has add-ons, or has had some before, whose objects must go. */
export function hasAddOns({ spec, status }: EdgeCluster): boolean {
  if ((spec.addons ?? []).length > 0) return true
  return (status?.steps ?? []).some(({ name }) => name === addOnsName)
}

export function addOnsOf({ spec }: EdgeCluster): unknown {
  return spec.addons
}

/** Hands the manifests to the program on the master, which applies them to the site there. */
export async function applyAddOns(context: StepContext): Promise<string> {
  const { master, print, signal } = context
  const manifests = await readManifests(context)
  const shell = await context.shellOf(master)
  await shell.write(path, JSON.stringify(manifests), 0o600)
  const words = ['machine', 'apply', '--manifests', path, '--data-dir', `${places.data}/site`]
  const timeoutMs = applyMsMax
  const { exitCode, stdout, stderr } = await shell.run([places.program, ...words], {
    timeoutMs,
    signal,
  })
  for (const text of [stdout, stderr]) if (text.trim() !== '') print(text)
  if (exitCode !== 0) {
    const why =
      stderr
        .trimEnd()
        .split('\n')
        .at(-1)
        ?.replace(/^skerry: /, '') ?? ''
    throw new StepError(why || `skerry machine apply exited with ${exitCode}`, {
      isFinal: exitCode === usage,
    })
  }
  await must({ ...context, shell }, ['rm', '-f', '--', path])
  return stdout.trimEnd().split('\n').at(-1) ?? ''
}

interface NamedText {
  /** Names the text in messages. */
  readonly name: string
  readonly text: string
}

async function readManifests({
  edge,
  hub,
  signal,
}: Pick<StepContext, 'edge' | 'hub' | 'signal'>): Promise<NamedText[]> {
  const namespace = edge.metadata.namespace ?? ''
  const read: NamedText[] = []
  let bytes = 0
  for (const [at, { configMap: name, key }] of (edge.spec.addons ?? []).entries()) {
    const content = await hub.read({ namespace, kind: 'ConfigMap', name, key }, signal)
    bytes += content.length
    if (bytes > addOnBytesMax) {
      const text = `spec.addons: all manifests together have more than ${addOnBytesMax} bytes`
      throw new StepError(text, { isFinal: true })
    }
    read.push({ name: `spec.addons[${at}] (${name}/${key})`, text: content.toString('utf8') })
  }
  return read
}
