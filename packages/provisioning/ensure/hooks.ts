import type { CopiedFile, EdgeCluster, Hook } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { MachineContext } from '../contract/step.ts'
import { must } from './commands.ts'
import { recordCopies, takeBackOthers } from './copied-files.ts'

const { valueCharsMin } = provisioningBounds.engine

/** The name of the step, by which it knows that it has been done before. */
export const copyFilesName = 'CopyFiles'

/** Returns true if the object has files, or has had some before, which must go. */
export function hasFiles({ spec, status }: EdgeCluster): boolean {
  if ((spec.files ?? []).length > 0) return true
  return (status?.steps ?? []).some(({ name }) => name === copyFilesName)
}

/** Copies the files that the object names, and takes back those that it has named before. */
export async function copyFiles(context: MachineContext): Promise<string> {
  const { edge, shell, print } = context
  const files = edge.spec.files ?? []
  const contents = new Map<CopiedFile, Buffer>()
  for (const file of files) contents.set(file, await readFrom(file, context))
  const copies = [...contents].map(([{ path }, content]) => ({ path, content }))
  await takeBackOthers(context, new Set(files.map(({ path }) => path)))
  await recordCopies(context, copies)
  for (const [file, content] of contents) {
    await shell.write(file.path, content, modeOf(file))
    print(`${file.path}: ${content.length} bytes`)
  }
  return `${files.length} files`
}

function modeOf({ from, mode }: CopiedFile): number {
  return Number.parseInt(mode ?? (from.secret === undefined ? '0644' : '0600'), 8)
}

async function readFrom({ from }: CopiedFile, context: MachineContext): Promise<Buffer> {
  const { edge, hub, signal, conceal } = context
  const namespace = edge.metadata.namespace ?? ''
  const isSecret = from.secret !== undefined
  const kind = isSecret ? ('Secret' as const) : ('ConfigMap' as const)
  const name = from.secret ?? from.configMap ?? ''
  const content = await hub.read({ namespace, kind, name, key: from.key }, signal)
  if (isSecret) conceal(secretsIn(content.toString('utf8')))
  return content
}

/** Returns the lines of a file that is secret, and the value of each that assigns one: scripts print it without its name. */
function secretsIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, value = ''] = /^[^=:]{1,256}[=:](.*)$/.exec(line.trim()) ?? []
    const bare = value
      .replace(/,$/, '')
      .trim()
      .replace(/^(["'])(.*)\1$/, '$2')
    return bare.length >= valueCharsMin ? [line, bare] : [line]
  })
}

/** Returns a step that runs the scripts of one moment, in the order of the object. */
export function runHooks(when: Hook['when']): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { edge, hub, shell, signal, print } = context
    const hooks = (edge.spec.hooks ?? []).filter((hook) => hook.when === when)
    const namespace = edge.metadata.namespace ?? ''
    // The scripts may print what was copied, perhaps before the hub was started.
    for (const file of edge.spec.files ?? []) {
      if (file.from.secret !== undefined) await readFrom(file, context)
    }
    for (const [at, { configMap: name, key }] of hooks.entries()) {
      const script = await hub.read({ namespace, kind: 'ConfigMap', name, key }, signal)
      const path = `/etc/skerry/hook-${when.toLowerCase()}-${at}`
      await shell.write(path, script, 0o700)
      print(`${name}/${key}`)
      await must(context, [path], { timeoutMs: provisioningBounds.steps.hookMsMax })
    }
    return `${hooks.length} scripts`
  }
}
